"""Programs in the textual form, and how to see that two of them compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from synth.errors import InternalError
from synth.ir import interpreter, verifier
from synth.ir.grammar import Module
from synth.ir.text import parse_module
from synth.passes.base import Illegal, Pass
from synth.spec import SPECS

SPEC = SPECS["avx512_vnni"]
BUFFERS = "A: f32[64i64] host in const, B: f32[64i64] host in const, C: f32[64i64] host inout"


def module(body: str, params: str = BUFFERS) -> Module:
    """An entry with these parameters and this body, checked."""
    lines = "\n".join("  " + line for line in body.strip().splitlines())
    found = parse_module(f"module entry({params}) dialect=c {{\n{lines}\n}}\n")
    verifier.check(found)
    return found


def inputs(m: Module, scalars: dict[str, int] | None = None, seed: int = 0) -> dict[str, Any]:
    """Arguments: small multiples of 1/8, so that sums and products of a few of them are exact."""
    rng = np.random.default_rng(seed)
    args: dict[str, Any] = {}
    for p in m.params:
        if p.is_buffer:
            size = int(p.shape[0].value)  # type: ignore[index,union-attr]
            args[p.sym.name] = (rng.integers(-16, 16, size) / 8 if p.dtype.is_float else rng.integers(0, 9, size)).astype(numpy_type(p))
        else:
            args[p.sym.name] = (scalars or {}).get(p.sym.name, 0)
    return args


def numpy_type(p: Any) -> Any:
    from synth.evidence.cases import NUMPY_DTYPES

    return NUMPY_DTYPES[p.dtype]


def results(m: Module, args: dict[str, Any]) -> dict[str, Any]:
    """The buffers after a run."""
    mine = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
    interpreter.run(m, mine)
    return {k: v for k, v in mine.items() if isinstance(v, np.ndarray)}


def assert_same(before: Module, after: Module, scalars: dict[str, int] | None = None, seed: int = 0) -> None:
    """Both are well formed and leave the same in memory."""
    verifier.check(after)
    args = inputs(before, scalars, seed)
    a, b = results(before, args), results(after, args)
    for name, value in a.items():
        np.testing.assert_allclose(b[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


def applied(step: Pass, m: Module) -> Module:
    """The module after a legal step, which preserved what the program computes."""
    verdict = step.check(m, SPEC)
    assert verdict, getattr(verdict, "reason", "")
    after = step.apply(m, SPEC)
    assert_same(m, after)
    return after


def refusal(step: Pass, m: Module) -> str:
    """The reason for which a step is refused."""
    verdict = step.check(m, SPEC)
    assert isinstance(verdict, Illegal), f"{step} is legal"
    return verdict.reason


__all__ = ["SPEC", "InternalError", "applied", "assert_same", "inputs", "module", "refusal", "results"]
