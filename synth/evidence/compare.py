"""Comparison of what two programs left in the buffers of one call."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from synth.evidence.cases import Array, BufferArg, TestCase
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role

# What memory holds that nobody wrote: device memory and outputs of every second case the first, other outputs the second byte.
FILL, POISON = 0xFF, 0x7F


@dataclass(frozen=True, slots=True)
class Comparison:
    """``errors`` are the worst errors by buffer, relative to element and root mean square. ``reason`` names the first mismatch."""

    ok: bool
    reason: str = ""
    errors: dict[str, float] = field(default_factory=dict)
    buffer: str = ""
    first: int | None = None


def compare(
    reference: dict[str, Array],
    candidate: dict[str, Array],
    case: TestCase,
    tolerances: dict[str, Tolerance],
    slack: dict[str, Array] | None = None,
) -> Comparison:
    """Whether all buffers agree. Inputs must be untouched in the way the reference left them; outputs agree within their tolerance, and
    within ``slack`` on top of it (see ``synth.evidence.conditioning``).

    Where the reference holds NaN the candidate must too, and equal infinities agree. What the reference never wrote of an output the
    candidate may not write either; what it copied out of memory that was never written (all bits set) is free.
    """
    errors: dict[str, float] = {}
    for arg in case.args:
        if not isinstance(arg, BufferArg):
            continue
        a, b = reference[arg.name], candidate[arg.name]
        if a.shape != b.shape:
            return Comparison(False, f"buffer '{arg.name}' has {b.size} elements instead of {a.size}", errors, arg.name)
        wrong, errors[arg.name] = differences(a, b, arg, tolerances.get(arg.name), (slack or {}).get(arg.name))
        if wrong.any():
            first = int(np.argmax(wrong))
            return Comparison(False, _words(arg, a, b, wrong, first), errors, arg.name, first)
    return Comparison(True, "", errors)


def differences(a: Array, b: Array, arg: BufferArg, tolerance: Tolerance | None, slack: Array | None = None) -> tuple[Array, float]:
    """Which elements of one buffer differ by more than their tolerance (None: at all), and the worst error. Equal shapes."""
    if a.tobytes() == b.tobytes():
        return np.zeros(a.shape, bool), 0.0
    if arg.role is Role.IN or not arg.dtype.is_float or tolerance is None:
        return _exact(a, b)
    unwritten = _filled(a, POISON)
    free = _filled(a, FILL)
    # Neither takes part in the scale of the output: the poison is a huge number.
    defined = ~(unwritten | free)
    wrong = np.zeros(a.shape, bool)
    more = np.zeros(int(defined.sum())) if slack is None else slack[defined]
    wrong[defined], error = _close(as_float(a[defined], arg.dtype), as_float(b[defined], arg.dtype), tolerance, more)
    if unwritten.any():
        wrong[unwritten] = ~_filled(b, POISON)[unwritten]
    return wrong, error


def _words(arg: BufferArg, a: Array, b: Array, wrong: Array, first: int) -> str:
    what = "input" if arg.role is Role.IN else "output"
    share = f"{int(wrong.sum())} of {wrong.size} elements differ"
    if arg.role is not Role.IN and arg.dtype.is_float and _filled(a[first : first + 1], POISON)[0]:
        return f"{what} '{arg.name}'[{first}] is written ({b[first]}), which the reference leaves alone; {share}"
    return f"{what} '{arg.name}'[{first}] is {b[first]} instead of {a[first]}; {share}"


def as_float(values: Array, dtype: DType) -> Array:
    """The values in double precision; bf16 comes as raw bits."""
    if dtype is DType.BF16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def _filled(values: Array, byte: int) -> Array:
    """Elements all of whose bytes are ``byte``; none in types of a single byte."""
    size = values.dtype.itemsize
    if size < 2:
        return np.zeros(values.shape, bool)
    pattern = np.frombuffer(bytes([byte]) * size, np.dtype(f"u{size}"))[0]
    found: Array = np.ascontiguousarray(values).view(f"u{size}") == pattern
    return found


def _exact(a: Array, b: Array) -> tuple[Array, float]:
    size = a.dtype.itemsize
    raw_a, raw_b = (np.ascontiguousarray(x).view(f"u{size}") for x in (a, b))
    wrong: Array = raw_a != raw_b
    return wrong, float(wrong.any())


def _close(a: Array, b: Array, tolerance: Tolerance, slack: Array) -> tuple[Array, float]:
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    infinite = np.isinf(a) | np.isinf(b)
    finite = ~(nan_a | nan_b | infinite)
    scale = float(np.sqrt(np.mean(a[finite] ** 2))) if finite.any() else 0.0
    wrong = (nan_a != nan_b) | (infinite & ~(nan_a | nan_b) & (a != b))
    difference, allowed = np.zeros_like(a), np.zeros_like(a)
    difference[finite] = np.abs(a[finite] - b[finite])
    allowed[finite] = np.abs(a[finite]) + scale
    wrong |= difference > tolerance.relative * allowed + slack
    relative = difference[finite] / np.maximum(allowed[finite], np.finfo(np.float64).tiny)
    return wrong, float(relative.max(initial=0.0))
