"""Comparison of what two programs left in the buffers of one call."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from synth.evidence.cases import Array, BufferArg, TestCase
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role


@dataclass(frozen=True, slots=True)
class Comparison:
    """``errors`` are the worst errors by buffer, relative to element and root mean square. ``reason`` names the first mismatch."""

    ok: bool
    reason: str = ""
    errors: dict[str, float] = field(default_factory=dict)


def compare(reference: dict[str, Array], candidate: dict[str, Array], case: TestCase, tolerances: dict[str, Tolerance]) -> Comparison:
    """Whether all buffers agree. Inputs must be untouched in the way the reference left them; outputs agree within their tolerance.

    Where the reference holds NaN the candidate must too, equal infinities agree, and what the reference never defined (uninitialised device memory that
    it copied out, all bits set) is free.
    """
    errors: dict[str, float] = {}
    for arg in case.args:
        if not isinstance(arg, BufferArg):
            continue
        a, b = reference[arg.name], candidate[arg.name]
        if a.shape != b.shape:
            return Comparison(False, f"buffer '{arg.name}' has {b.size} elements instead of {a.size}", errors)
        exact = arg.role is Role.IN or not arg.dtype.is_float or arg.name not in tolerances
        wrong, error = _exact(a, b) if exact else _close(as_float(a, arg.dtype), as_float(b, arg.dtype), tolerances[arg.name])
        if arg.role is not Role.IN:
            wrong &= ~undefined(a)
        errors[arg.name] = error
        if wrong.any():
            first = int(np.argmax(wrong))
            what = "input" if arg.role is Role.IN else "output"
            share = f"{int(wrong.sum())} of {wrong.size} elements differ"
            return Comparison(False, f"{what} '{arg.name}'[{first}] is {b[first]} instead of {a[first]}; {share}", errors)
    return Comparison(True, "", errors)


def as_float(values: Array, dtype: DType) -> Array:
    """The values in double precision; bf16 comes as raw bits."""
    if dtype is DType.BF16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def undefined(values: Array) -> Array:
    """Elements with all bits set: the emulator's fill of memory that was never written."""
    if values.size == 0 or values.dtype.itemsize < 2:
        return np.zeros(values.shape, bool)
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(values.size, values.dtype.itemsize)
    all_set: Array = (raw == 0xFF).all(axis=1)
    return all_set if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def _exact(a: Array, b: Array) -> tuple[Array, float]:
    size = a.dtype.itemsize
    raw_a, raw_b = (np.ascontiguousarray(x).view(np.uint8).reshape(x.size, size) for x in (a, b))
    wrong: Array = (raw_a != raw_b).any(axis=1)
    return wrong, float(wrong.any())


def _close(a: Array, b: Array, tolerance: Tolerance) -> tuple[Array, float]:
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    infinite = np.isinf(a) | np.isinf(b)
    finite = ~(nan_a | nan_b | infinite)
    scale = float(np.sqrt(np.mean(a[finite] ** 2))) if finite.any() else 0.0
    wrong = (nan_a != nan_b) | (infinite & ~(nan_a | nan_b) & (a != b))
    difference, allowed = np.zeros_like(a), np.zeros_like(a)
    difference[finite] = np.abs(a[finite] - b[finite])
    allowed[finite] = np.abs(a[finite]) + scale
    wrong |= difference > tolerance.relative * allowed
    relative = difference[finite] / np.maximum(allowed[finite], np.finfo(np.float64).tiny)
    return wrong, float(relative.max(initial=0.0))
