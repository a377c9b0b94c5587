"""Negative controls: damaged outputs that the tests must tell from the right ones. If one slips through, the tests are too weak."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from synth.evidence.cases import Array, BufferArg, TestCase
from synth.evidence.compare import compare
from synth.evidence.tolerance import Tolerance
from synth.ir.grammar import Role


def _zeroed(values: Array) -> Array:
    return np.zeros_like(values)


def _shifted(values: Array) -> Array:
    return np.roll(values, 1)


def _reversed(values: Array) -> Array:
    return values[::-1].copy()


def _truncated(values: Array) -> Array:
    """The last eighth was never written."""
    out = values.copy()
    out[-max(1, values.size // 8) :] = np.zeros(1, values.dtype)
    return out


def _last_wrong(values: Array) -> Array:
    out = values.copy()
    last = values[-1]
    out[-1] = (not last) if values.dtype == np.bool_ else last + np.ones(1, values.dtype)[0]
    return out


def _transposed(values: Array) -> Array:
    """Rows and columns exchanged, for the squarest shape that fits."""
    rows = next((r for r in range(int(values.size**0.5), 1, -1) if values.size % r == 0), 1)
    return values.reshape(rows, -1).T.reshape(-1).copy()


CONTROLS: dict[str, Callable[[Array], Array]] = {
    "zeroed": _zeroed,
    "shifted": _shifted,
    "reversed": _reversed,
    "truncated": _truncated,
    "transposed": _transposed,
    "last element wrong": _last_wrong,
}
POSITIONAL = {"shifted", "reversed", "transposed"}


def weaknesses(cases: Sequence[TestCase], outputs: Sequence[dict[str, Array]], tolerances: dict[str, Tolerance]) -> tuple[str, ...]:
    """Controls that no case refutes, as ``output: control``; empty when the tests are strong enough. A control that moves elements is passed over
    where an output has one element or none, or never two different ones."""
    found: list[str] = []
    names = [a.name for a in cases[0].args if isinstance(a, BufferArg) and a.role in (Role.OUT, Role.INOUT)] if cases else []
    if cases and not names:
        return ("the entry has no output",)
    for name in names:
        sizes = [out[name].size for out in outputs]
        if max(sizes, default=0) == 0:
            found.append(f"{name}: it is empty in every case")
            continue
        for label, damage in CONTROLS.items():
            if label in POSITIONAL and (max(sizes) < 2 or (label == "transposed" and max(sizes) < 4)):
                continue
            if not any(_noticed(case, out, name, damage, tolerances) for case, out in zip(cases, outputs, strict=True) if out[name].size):
                if label in POSITIONAL and _unmoved(outputs, name, damage):
                    continue
                found.append(f"{name}: {label} outputs would pass")
    return tuple(found)


def _noticed(case: TestCase, out: dict[str, Array], name: str, damage: Callable[[Array], Array], tolerances: dict[str, Tolerance]) -> bool:
    with np.errstate(over="ignore"):
        damaged = damage(out[name])
    return not compare(out, {**out, name: damaged}, case, tolerances).ok


def _unmoved(outputs: Sequence[dict[str, Array]], name: str, damage: Callable[[Array], Array]) -> bool:
    """Whether the control changes nothing in any case: the output is the same wherever it moves to."""
    return all(np.array_equal(out[name], damage(out[name]), equal_nan=out[name].dtype.kind == "f") for out in outputs if out[name].size)
