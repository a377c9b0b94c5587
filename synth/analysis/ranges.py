"""Intervals of mathematical integers, and what they say about machine arithmetic.

``Range`` is the domain; ``range_of`` asks about an expression under an environment (see ``synth.analysis.env``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from synth.ir.dtypes import DType

if TYPE_CHECKING:
    from synth.analysis.env import Env
    from synth.ir.grammar import Cast, Expr


@dataclass(frozen=True, slots=True)
class Range:
    """Inclusive bounds; None is unbounded."""

    lo: int | None = None
    hi: int | None = None

    def within(self, dtype: DType) -> bool:
        """Whether all values fit an integer type: arithmetic with this exact result does not wrap, a cast to it keeps the value."""
        return self.lo is not None and self.hi is not None and dtype.min_int <= self.lo and self.hi <= dtype.max_int

    def meet(self, other: Range) -> Range:
        """The values in both."""
        return Range(tighter(self.lo, other.lo, highest=True), tighter(self.hi, other.hi, highest=False))

    def join(self, other: Range) -> Range:
        """The smallest interval around both."""
        lo = None if self.lo is None or other.lo is None else min(self.lo, other.lo)
        hi = None if self.hi is None or other.hi is None else max(self.hi, other.hi)
        return Range(lo, hi)

    def clamped(self, dtype: DType) -> Range:
        """The bounds met with those of an integer type."""
        return self.meet(type_range(dtype))

    def at_least(self, value: int) -> bool:
        return self.lo is not None and self.lo >= value

    def at_most(self, value: int) -> bool:
        return self.hi is not None and self.hi <= value

    @property
    def value(self) -> int | None:
        """The only value, when there is one."""
        return self.lo if self.lo == self.hi else None


@cache
def type_range(dtype: DType) -> Range:
    """All values of an integer type or ``bool``."""
    return Range(dtype.min_int, dtype.max_int)


def tighter(a: int | None, b: int | None, *, highest: bool) -> int | None:
    """The higher (or lower) of two bounds, None being no bound."""
    if a is None or b is None:
        return a if b is None else b
    return max(a, b) if highest else min(a, b)


def truncated_quotient(value: int | None, divisor: int) -> int | None:
    """C's quotient by a positive divisor (C11 6.5.5)."""
    if value is None:
        return None
    return value // divisor if value >= 0 else -(-value // divisor)


def product(a: Range, b: Range) -> Range:
    """The interval of all products."""
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None:
        if a.at_least(0) and b.at_least(0):
            return Range((a.lo or 0) * (b.lo or 0), None)
        return Range()
    products = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return Range(min(products), max(products))


def range_of(expr: Expr, env: Env) -> Range:
    """Bounds of an integer or bool expression where ``env`` holds: loop variables, definitions, guards and assumptions included."""
    return env.range_of(expr)


def preserves_value(cast: Cast, env: Env) -> bool:
    """Whether a conversion between integer types gives the value it is given."""
    target = cast.type
    return isinstance(target, DType) and target.is_int and isinstance(cast.a.type, DType) and env.fits(env.normal(cast.a), target)
