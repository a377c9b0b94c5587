"""The face of the integer analyses: environments, what holds where, and normal forms of expressions."""

from __future__ import annotations

from synth.analysis.constraints import constraints, operands
from synth.analysis.env import Env
from synth.analysis.normal import merge_quotients, to_expr
from synth.analysis.ranges import Range
from synth.analysis.walking import entry_env, env_at, following, module_env, private_buffers, step_into

__all__ = [
    "Env", "Range", "constraints", "entry_env", "env_at", "following", "merge_quotients", "module_env", "operands", "private_buffers",
    "step_into", "to_expr",
]  # fmt: skip
