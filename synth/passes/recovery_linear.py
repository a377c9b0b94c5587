"""Integer expressions as linear forms over bounded indexes: exact, because no step can wrap within the bounds.

CUDA computes global indexes in ``unsigned`` (``blockIdx.x * blockDim.x + threadIdx.x``) and converts. Where the bounds of the indexes show
that nothing wraps, the same number is written as plain ``i32`` arithmetic, and quotients and remainders by literals are resolved:
``(bx*128 + w*32 + lane) / 32`` is ``bx*4 + w`` for ``0 <= lane < 32``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import COMPARE_OPS, Binary, Cast, Const, Expr, Load, Sym, Unary, Var
from synth.ir.traversal import map_expr_children


@dataclass(frozen=True, slots=True)
class Linear:
    """``const + sum coefficient * symbol``."""

    terms: tuple[tuple[Sym, int], ...]
    const: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        total = dict(self.terms)
        for sym, c in other.terms:
            total[sym] = total.get(sym, 0) + factor * c
        return Linear(tuple(sorted(((s, c) for s, c in total.items() if c), key=lambda t: t[0].uid)), self.const + factor * other.const)

    def times(self, factor: int) -> Linear:
        return Linear((), 0).plus(self, factor)


@dataclass(slots=True)
class Forms:
    """What is known about symbols: ``bounds`` (both inclusive) and ``types`` of indexes, ``lets`` that are linear in them."""

    bounds: dict[Sym, tuple[int, int]] = field(default_factory=dict)
    types: dict[Sym, DType] = field(default_factory=dict)
    lets: dict[Sym, Linear] = field(default_factory=dict)

    def add(self, sym: Sym, type_: DType, low: int, high: int) -> None:
        self.bounds[sym] = (low, high)
        self.types[sym] = type_

    def range(self, form: Linear) -> tuple[int, int]:
        low = high = form.const
        for sym, c in form.terms:
            ends = (c * self.bounds[sym][0], c * self.bounds[sym][1])
            low, high = low + min(ends), high + max(ends)
        return low, high

    def fits(self, form: Linear, type_: DType) -> bool:
        low, high = self.range(form)
        return type_.min_int <= low and high <= type_.max_int


def linear(expr: Expr, forms: Forms) -> Linear | None:
    """The linear form of an integer expression, or None when it has none or some step might wrap."""
    if not isinstance(expr.type, DType) or not expr.type.is_int:
        return None
    form = _linear(expr, forms)
    return form if form is not None and forms.fits(form, expr.type) else None


def _linear(expr: Expr, forms: Forms) -> Linear | None:
    match expr:
        case Const():
            return Linear((), int(expr.value))
        case Var():
            return Linear(((expr.sym, 1),)) if expr.sym in forms.bounds else forms.lets.get(expr.sym)
        case Cast():
            return linear(expr.a, forms)
        case Unary("neg", a):
            form = linear(a, forms)
            return None if form is None else form.times(-1)
        case Binary():
            x, y = linear(expr.a, forms), linear(expr.b, forms)
            return None if x is None or y is None else _operation(expr.op, x, y, forms)
        case _:
            return None


def _operation(op: str, x: Linear, y: Linear, forms: Forms) -> Linear | None:
    if op in ("add", "sub"):
        return x.plus(y, 1 if op == "add" else -1)
    if op == "mul" and x.terms and y.terms:
        return None
    if op == "mul":
        return y.times(x.const) if not x.terms else x.times(y.const)
    if y.terms:
        return None
    n = y.const
    if op == "shl" and 0 <= n < 63:
        return x.times(1 << n)
    if op in ("div", "mod"):
        return _quotient(x, n, op == "div", forms)
    if op == "shr" and 0 <= n < 63:
        return _quotient(x, 1 << n, True, forms)
    if op == "and" and n >= 0 and n & (n + 1) == 0:
        return _quotient(x, n + 1, False, forms)
    return None


# x >= 0 and x = d m + r with 0 <= r < d: x / d = m and x % d = r.
def _quotient(x: Linear, d: int, quotient: bool, forms: Forms) -> Linear | None:
    if d <= 0 or forms.range(x)[0] < 0:
        return None
    whole = Linear(tuple((s, c // d) for s, c in x.terms if c % d == 0), x.const // d)
    rest = Linear(tuple((s, c) for s, c in x.terms if c % d), x.const % d)
    low, high = forms.range(rest)
    if low < 0 or high >= d:
        return None
    return whole if quotient else rest


# ---------------------------------------------------------------------------------------------------------- writing


def build(form: Linear, forms: Forms) -> Expr | None:
    """The form as ``i32`` arithmetic, or None when a term or a partial sum might not fit."""
    ordered = sorted(form.terms, key=lambda t: -abs(t[1]))
    partial = Linear((), 0)
    total: Expr | None = None
    for sym, c in ordered:
        partial = partial.plus(Linear(((sym, c),)))
        if not forms.fits(partial, DType.I32) or not forms.fits(Linear(((sym, c),)), DType.I32):
            return None
        var = b.cast(Var(sym, forms.types[sym]), DType.I32)
        term = var if abs(c) == 1 else b.mul(var, b.i32(abs(c)))
        if total is None:
            total = term if c > 0 else Unary("neg", term)
        else:
            total = Binary("add" if c > 0 else "sub", total, term)
    if not forms.fits(form, DType.I32):
        return None
    if total is None:
        return b.i32(form.const)
    if form.const:
        total = Binary("add" if form.const > 0 else "sub", total, b.i32(abs(form.const)))
    return total


def straighten(expr: Expr, forms: Forms) -> Expr:
    """``expr`` with its maximal linear subexpressions rewritten as ``i32`` arithmetic."""
    if isinstance(expr, Const | Var):
        return expr
    plain = as_plain(expr, forms)
    if plain is not None and isinstance(expr.type, DType):
        return b.cast(plain, expr.type)
    if isinstance(expr, Binary) and expr.op in COMPARE_OPS:
        sides = as_plain(expr.a, forms), as_plain(expr.b, forms)
        if sides[0] is not None and sides[1] is not None:
            return Binary(expr.op, sides[0], sides[1])
    if isinstance(expr, Load):
        return dataclasses.replace(expr, index=straighten_index(expr.index, forms))
    return map_expr_children(expr, lambda e: straighten(e, forms))


def as_plain(expr: Expr, forms: Forms) -> Expr | None:
    """An ``i32`` expression of the same value as the linear ``expr``, or None. A variable stays itself."""
    if isinstance(expr, Var) and expr.type == DType.I32 and (expr.sym in forms.bounds or expr.sym in forms.lets):
        return expr
    if isinstance(expr, Cast) and isinstance(expr.a, Var) and expr.a.type == DType.I32 and linear(expr, forms) is not None:
        return expr.a
    form = linear(expr, forms)
    if form is None:
        return None
    inner = _keeping_lets(expr, forms)
    return inner if inner is not None else build(form, forms)


# People name their indexes: in ``row * 64 + col`` the names stay, as long as nothing needs their values.
def _keeping_lets(expr: Expr, forms: Forms) -> Expr | None:
    """``expr`` in ``i32`` over the same variables, when it is sums and products of Lets, indexes and literals that all fit."""
    form = linear(expr, forms)
    if form is None or not forms.fits(form, DType.I32):
        return None
    match expr:
        case Const():
            return b.i32(int(expr.value))
        case Var():
            return b.cast(expr, DType.I32) if expr.sym in forms.lets else None
        case Cast():
            return _keeping_lets(expr.a, forms)
        case Binary("add" | "sub" | "mul" as op, x, y):
            sides = _side(x, forms), _side(y, forms)
            if sides[0] is None or sides[1] is None or not (_names_let(x, forms) or _names_let(y, forms)):
                return None
            return Binary(op, sides[0], sides[1])
        case _:
            return None


def _names_let(expr: Expr, forms: Forms) -> bool:
    return (isinstance(expr, Var) and expr.sym in forms.lets) or any(_names_let(e, forms) for e in _operands(expr))


def _operands(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Cast():
            return (expr.a,)
        case Binary("add" | "sub" | "mul", x, y):
            return (x, y)
        case _:
            return ()


def _side(expr: Expr, forms: Forms) -> Expr | None:
    kept = _keeping_lets(expr, forms)
    if kept is not None:
        return kept
    form = linear(expr, forms)
    return None if form is None else build(form, forms)


def straighten_index(index: tuple[Expr, ...], forms: Forms) -> tuple[Expr, ...]:
    """Element indexes, in ``i32`` where they are linear."""
    return tuple(as_plain(e, forms) or straighten(e, forms) for e in index)


def upper_bound(expr: Expr, known: Mapping[Sym, int]) -> int:
    """An inclusive upper bound of a non-negative integer expression from its form and type alone."""
    limit = expr.type.max_int if isinstance(expr.type, DType) and expr.type.is_int else (1 << 63) - 1
    match expr:
        case Const():
            return int(expr.value)
        case Var():
            return min(limit, known.get(expr.sym, limit))
        case Cast():
            return min(limit, upper_bound(expr.a, known))
        case Binary("div", x, Const() as d) if int(d.value) > 0:
            return min(limit, upper_bound(x, known) // int(d.value))
        case Binary("add", x, y):
            return min(limit, upper_bound(x, known) + upper_bound(y, known))
        case Binary("min", x, y):
            return min(upper_bound(x, known), upper_bound(y, known))
        case _:
            return limit
