"""Negative controls: damaged outputs that the tests must tell from the right ones. If one slips through, the tests are too weak."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from synth.evidence.cases import Array, BufferArg, TestCase
from synth.evidence.compare import as_float, differences
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role

Damage = Callable[[Array, DType], Array]
SLIGHT = 0.01  # of an output's scale


def _zeroed(values: Array, dtype: DType) -> Array:
    return np.zeros_like(values)


def _shifted(values: Array, dtype: DType) -> Array:
    return np.roll(values, 1)


def _reversed(values: Array, dtype: DType) -> Array:
    return values[::-1].copy()


def _truncated(values: Array, dtype: DType) -> Array:
    """The last eighth was never written."""
    out = values.copy()
    out[-max(1, values.size // 8) :] = np.zeros(1, values.dtype)
    return out


def _negated(values: Array, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        return ~values
    if dtype is DType.BF16:
        return values ^ np.uint16(0x8000)
    return -values if dtype.is_float else np.negative(values)


def _last_wrong(values: Array, dtype: DType) -> Array:
    """One element, the last, is off by a hundredth of the output's scale, an integer by one."""
    out = values.copy()
    if dtype is DType.BOOL:
        out[-1] = not values[-1]
    elif not dtype.is_float:
        out[-1] = values[-1] ^ values.dtype.type(1)
    else:
        exact = as_float(values, dtype)
        finite = exact[np.isfinite(exact)]
        scale = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
        off = exact[-1] + SLIGHT * max(scale, abs(float(exact[-1])) if np.isfinite(exact[-1]) else 0.0, float(np.finfo(np.float32).tiny))
        if dtype is DType.BF16:
            out[-1] = np.array([off], np.float32).view(np.uint32)[0] >> 16
        else:
            out[-1] = off
    return out


def _transposed(values: Array, dtype: DType) -> Array:
    """Rows and columns exchanged, for the squarest shape that fits."""
    rows = next((r for r in range(int(values.size**0.5), 1, -1) if values.size % r == 0), 1)
    return values.reshape(rows, -1).T.reshape(-1).copy()


CONTROLS: dict[str, Damage] = {
    "zeroed": _zeroed,
    "shifted": _shifted,
    "reversed": _reversed,
    "truncated": _truncated,
    "negated": _negated,
    "transposed": _transposed,
    "last element wrong": _last_wrong,
}
POSITIONAL = {"shifted", "reversed", "transposed"}


def weaknesses(cases: Sequence[TestCase], outputs: Sequence[dict[str, Array]], tolerances: dict[str, Tolerance]) -> tuple[str, ...]:
    """Controls that no case refutes, as ``output: control``; empty when the tests are strong enough. A control that moves
    elements is passed over where an output has one element or none, or never two different ones."""
    arguments = [a for a in cases[0].args if isinstance(a, BufferArg) and a.role in (Role.OUT, Role.INOUT)] if cases else []
    if cases and not arguments:
        return ("the entry has no output",)
    found: list[str] = []
    for arg in arguments:
        # The smallest first: one case that notices is enough.
        results = sorted((out[arg.name] for out in outputs if out[arg.name].size), key=lambda values: values.size)
        if not results:
            found.append(f"{arg.name}: it is empty in every case")
            continue
        for label, damage in CONTROLS.items():
            largest = results[-1].size
            if label in POSITIONAL and (largest < 2 or (label == "transposed" and largest < 4)):
                continue
            if not any(_noticed(values, arg, damage, tolerances.get(arg.name)) for values in results):
                if label in POSITIONAL and all(_unmoved(values, arg.dtype, damage) for values in results):
                    continue
                found.append(f"{arg.name}: {label} outputs would pass")
    return tuple(found)


def _noticed(values: Array, arg: BufferArg, damage: Damage, tolerance: Tolerance | None) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        wrong, _ = differences(values, damage(values, arg.dtype), arg, tolerance)
    return bool(wrong.any())


def _unmoved(values: Array, dtype: DType, damage: Damage) -> bool:
    """Whether the control changes nothing: the output is the same wherever it moves to."""
    return np.array_equal(values, damage(values, dtype), equal_nan=values.dtype.kind == "f")
