"""Families of inputs: what a buffer holds at entry. All are functions of an explicit seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from synth.evidence.cases import NUMPY_DTYPES, Array
from synth.evidence.indexing import IndexRule
from synth.ir.dtypes import DType

Generator = np.random.Generator


def _random(rng: Generator, count: int) -> Array:
    return rng.standard_normal(count)


def _zeros(rng: Generator, count: int) -> Array:
    return np.zeros(count)


def _signs(rng: Generator, count: int) -> Array:
    """Both zeros, many ties."""
    return rng.choice([-1.0, -0.5, -0.0, 0.0, 0.5, 1.0], size=count)


def _extremes(rng: Generator, count: int) -> Array:
    """Magnitudes over many orders, both signs, finite after a few products."""
    return rng.choice([-1.0, 1.0], size=count) * 10.0 ** rng.uniform(-6, 2, size=count)


def _ramp(rng: Generator, count: int) -> Array:
    """Distinct and sorted: a misplaced element is off by a known amount."""
    return (np.arange(count) - count / 2) / max(count, 1) * 4


def _negative(rng: Generator, count: int) -> Array:
    """No zero and nothing positive: a maximum that starts at 0 is wrong."""
    return -0.1 - np.abs(rng.standard_normal(count))


def _positive(rng: Generator, count: int) -> Array:
    """No zero and nothing negative: a minimum that starts at 0 is wrong."""
    return 0.1 + np.abs(rng.standard_normal(count))


def _small(rng: Generator, count: int) -> Array:
    """Where an epsilon decides."""
    return rng.standard_normal(count) * 1e-5


def _large(rng: Generator, count: int) -> Array:
    """Where the exponential overflows."""
    return rng.standard_normal(count) * 1e3


def _peaks(rng: Generator, count: int) -> Array:
    """Isolated large values, each in another place of its row: a maximum or a sum that leaves elements out misses some of them, and the
    exponential of what is left overflows."""
    values = rng.standard_normal(count)
    spacing = int(rng.integers(17, 62))
    places = np.arange(int(rng.integers(spacing)), count, spacing)
    values[places] = rng.uniform(100, 1000, places.size) * rng.choice([1.0, 1.0, 1.0, -1.0], places.size)
    return values


def _rising(rng: Generator, count: int) -> Array:
    """Steps of a hundred: the last element of every row is the largest by far, and a maximum without it makes the exponential overflow.

    All have one sign: in sums of products of numbers this large that cancel, rounding would be larger than what is left.
    """
    return np.arange(count) % 16384 * 100.0


def _falling(rng: Generator, count: int) -> Array:
    """The first element of every row is the largest by far."""
    return -_rising(rng, count)


def _mixed(rng: Generator, count: int) -> Array:
    """The other families in contiguous pieces: for buffers that are too large to try one after the other."""
    pieces = np.array_split(np.zeros(count), len(_PIECES))
    return np.concatenate([piece(rng, part.size) for piece, part in zip(_PIECES, pieces, strict=True)])


_PIECES = (_negative, _random, _small, _large, _zeros, _signs, _positive, _extremes, _peaks)

# In the order of their importance: where time is short the first ones are tried. What depends on where its values lie is tried again with
# other places.
REPEATED = ("random", "peaks", "large")
FAMILIES: dict[str, Callable[[Generator, int], Array]] = {
    "random": _random,
    "mixed": _mixed,
    "peaks": _peaks,
    "negative": _negative,
    "rising": _rising,
    "falling": _falling,
    "extremes": _extremes,
    "small": _small,
    "zeros": _zeros,
    "signs": _signs,
    "large": _large,
    "ramp": _ramp,
    "positive": _positive,
}


def contents(family: str, dtype: DType, count: int, rng: Generator, rule: IndexRule | None = None) -> Array:
    """``count`` values of a family in a dtype (bf16 as raw bits). ``rule`` makes integers valid indexes of other buffers."""
    target = NUMPY_DTYPES[dtype]
    if dtype is DType.BOOL:
        return np.zeros(count, target) if family == "zeros" else rng.integers(0, 2, count).astype(target)
    if dtype.is_int:
        return _indexes(family, count, rng, rule).astype(target) if rule else _integers(family, dtype, count, rng)
    values = FAMILIES[family](rng, count)
    if dtype is DType.BF16:
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    if dtype is DType.F16:
        values = np.clip(values, -60000.0, 60000.0)
    return values.astype(target)


def _indexes(family: str, count: int, rng: Generator, rule: IndexRule) -> Array:
    below = max(1, rule.below)
    if rule.ascending:  # 0 = p[0] <= p[1] <= ... <= p[last] = below - 1, as row pointers are
        inner = np.sort(rng.integers(0, below, max(0, count - 2)))
        return np.concatenate([[0], inner, [below - 1]])[:count] if count > 1 else np.zeros(count)
    if family == "zeros":
        return np.zeros(count)
    return np.arange(count) % below if family == "ramp" else rng.integers(0, below, count)


def _integers(family: str, dtype: DType, count: int, rng: Generator) -> Array:
    target = NUMPY_DTYPES[dtype]
    low, high = max(dtype.min_int, -100), min(dtype.max_int, 100)
    if family == "zeros":
        return np.zeros(count, target)
    if family == "signs":
        return rng.integers(max(low, -1), 2, count).astype(target)
    if family in ("extremes", "large") and dtype.bits <= 8:
        return rng.choice([dtype.min_int, dtype.min_int + 1, 0, 1, dtype.max_int], size=count).astype(target)
    if family == "ramp":
        return (np.arange(count) % (high - low + 1) + low).astype(target)
    if family == "negative" and dtype.is_signed_int:
        return rng.integers(low, 0, count).astype(target)
    if family == "positive":
        return rng.integers(1, high + 1, count).astype(target)
    return rng.integers(low, high + 1, count).astype(target)
