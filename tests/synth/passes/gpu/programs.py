"""C programs on their way to a GPU: read, bound, run beside their serial form by the reference interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

from synth.analysis.extents import complete_params
from synth.evidence.cases import NUMPY_DTYPES
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.grammar import Axis, For, Launch, Module, Role
from synth.ir.traversal import walk
from synth.passes.base import Illegal, Pass
from synth.passes.trace import parse_trace, print_trace, replay
from synth.source import ReadOptions, Source
from synth.spec import SPECS

GPU = SPECS["sm_80"]


def c_module(text: str) -> Module:
    """The module of a C function."""
    return complete_params(read(Source("#include <math.h>\n#include <stdlib.h>\n" + text, "vnni", "kernel.c"), ReadOptions()).module)


def arguments(m: Module, scalars: dict[str, int], seed: int = 0) -> dict[str, Any]:
    """Random arguments: small multiples of 1/8, buffers as long as their extents say for these scalars."""
    rng = np.random.default_rng(seed)
    args: dict[str, Any] = {p.sym.name: scalars[p.sym.name] for p in m.params if not p.is_buffer}
    values = {p.sym.uid: scalars[p.sym.name] for p in m.params if not p.is_buffer}
    machine = interpreter._Machine(1 << 20, 32)
    for p in (p for p in m.params if p.is_buffer):
        size = max(0, int(machine.value(p.shape[0], values)))  # type: ignore[index]
        drawn = rng.integers(-16, 16, size) / 8 if p.dtype.is_float else rng.integers(0, 9, size)
        args[p.sym.name] = drawn.astype(NUMPY_DTYPES[p.dtype])
    return args


def agree(before: Module, after: Module, scalars: dict[str, int] | None = None, tolerance: float = 1e-4, seed: int = 0) -> None:
    """Both are well formed and compute the same on random arguments."""
    verifier.check(after)
    args = arguments(before, scalars or {}, seed)
    runs = []
    for m in (before, after):
        mine = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
        interpreter.run(m, mine)
        runs.append(mine)
    for p in (p for p in before.params if p.is_buffer):
        name = p.sym.name
        np.testing.assert_allclose(runs[1][name], runs[0][name], rtol=tolerance, atol=tolerance, err_msg=name)
        if p.role is Role.IN:
            np.testing.assert_array_equal(runs[1][name], args[name])


def bound(m: Module, trace: str) -> Module:
    """The module after a printed trace, every step of it legal."""
    return replay(parse_trace(trace), m, GPU)


def refused(step: Pass, m: Module) -> str:
    """The reason for which a step is refused."""
    verdict = step.check(m, GPU)
    assert isinstance(verdict, Illegal), f"{print_trace((step,))} is legal"
    return verdict.reason


def shapes(m: Module) -> list[dict[str, int | None]]:
    """Extents of the axes of each launch, None where the host computes them."""
    found = []
    for launch in (s for s in walk(m.body) if isinstance(s, Launch)):
        axes = {s.axis: s.hi for s in walk(launch.body) if isinstance(s, For) and isinstance(s.axis, Axis)}
        found.append({axis.value: getattr(hi, "value", None) for axis, hi in axes.items()})
    return found
