"""Families of inputs: what a buffer holds at entry. All are functions of an explicit seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from synth.evidence.cases import NUMPY_DTYPES, Array
from synth.ir.dtypes import DType

Generator = np.random.Generator


def _random(rng: Generator, count: int) -> Array:
    return rng.standard_normal(count)


def _zeros(rng: Generator, count: int) -> Array:
    return np.zeros(count)


def _signs(rng: Generator, count: int) -> Array:
    return rng.choice([-1.0, -0.5, -0.0, 0.0, 0.5, 1.0], size=count)


def _extremes(rng: Generator, count: int) -> Array:
    """Magnitudes over many orders, both signs, finite after a few products."""
    return rng.choice([-1.0, 1.0], size=count) * 10.0 ** rng.uniform(-6, 2, size=count)


def _ramp(rng: Generator, count: int) -> Array:
    """Distinct and sorted: a misplaced element is off by a known amount."""
    return (np.arange(count) - count / 2) / max(count, 1) * 4


FAMILIES: dict[str, Callable[[Generator, int], Array]] = {
    "random": _random,
    "zeros": _zeros,
    "signs": _signs,
    "extremes": _extremes,
    "ramp": _ramp,
}


def contents(family: str, dtype: DType, count: int, rng: Generator, below: int | None = None) -> Array:
    """``count`` values of a family in a dtype (bf16 as raw bits). ``below`` makes integers valid indexes, 0 <= value < below."""
    target = NUMPY_DTYPES[dtype]
    if dtype is DType.BOOL:
        return np.zeros(count, target) if family == "zeros" else rng.integers(0, 2, count).astype(target)
    if dtype.is_int:
        return _integers(family, dtype, count, rng, below)
    values = FAMILIES[family](rng, count)
    if dtype is DType.BF16:
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return values.astype(target)


def _integers(family: str, dtype: DType, count: int, rng: Generator, below: int | None) -> Array:
    target = NUMPY_DTYPES[dtype]
    if below is not None:
        return (rng.integers(0, max(1, below), count) if family != "zeros" else np.zeros(count)).astype(target)
    if family == "zeros":
        return np.zeros(count, target)
    low, high = max(dtype.min_int, -100), min(dtype.max_int, 100)
    if family == "extremes" and dtype.bits <= 8:
        return rng.choice([dtype.min_int, dtype.min_int + 1, 0, 1, dtype.max_int], size=count).astype(target)
    if family == "ramp":
        return (np.arange(count) % (high - low + 1) + low).astype(target)
    return rng.integers(low, high + 1, count).astype(target)
