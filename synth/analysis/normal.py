"""Normal forms of integer expressions: polynomials over atoms, equal for expressions that are equal by arithmetic.

Machine integers are treated as mathematical ones only where that is sound: unsigned arithmetic and narrowing casts enter a normal form only
if what is known at the place excludes that they wrap; signed overflow is undefined in the source languages and assumed absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.analysis.polynomial import Poly, atom_key, atom_poly, const_poly
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Cast, Const, Expr, Unary, Var
from synth.ir.traversal import substitute_expr, walk_expr

if TYPE_CHECKING:
    from synth.analysis.env import Env

MAX_LETS = 8  # definitions of definitions that are looked through within an opaque atom


def normal_form(expr: Expr, env: Env) -> Poly:
    """The polynomial of an integer (or bool) expression under what ``env`` knows; what cannot be looked into is an atom."""
    return merge_quotients(_normal(expr, env), env)


def _normal(expr: Expr, env: Env) -> Poly:
    match expr:
        case Const(value=bool() as flag):
            return const_poly(int(flag))
        case Const(value=int() as value):
            return const_poly(value)
        case Var(sym=sym) if sym in env.lets and _is_integer(env.lets[sym]) and env.stable(env.lets[sym]):
            return env.normal(env.lets[sym])
        case Binary(op="add" | "sub" | "mul" | "shl") if isinstance(expr.type, DType) and expr.type.is_int:
            return _arithmetic(expr, expr.type, env)
        case Binary(op="shr", b=Const(value=int() as d)) if 0 <= d < 31 and _nonnegative(expr.a, env):
            return _quotient(expr.a, 1 << d, "div", env)
        case Binary(op="and", b=Const(value=int() as mask)) if mask >= 0 and mask & (mask + 1) == 0 and _nonnegative(expr.a, env):
            return _quotient(expr.a, mask + 1, "mod", env)
        case Binary(op="div" | "mod") if _is_integer(expr):
            divisor = env.normal(expr.b).constant
            if divisor is not None and divisor > 0 and _nonnegative(expr.a, env):
                return _quotient(expr.a, divisor, expr.op, env)
            return atom_poly(_resolved(expr, env))
        case Binary(op="min" | "max") if isinstance(expr.type, DType) and expr.type.is_int:
            x, y = env.normal(expr.a), env.normal(expr.b)
            low, high = (x, y) if expr.op == "min" else (y, x)
            if env.bounds(high - low).at_least(0):
                return x
            return y if env.bounds(low - high).at_least(0) else atom_poly(_resolved(expr, env))
        case Unary(op="neg") if isinstance(expr.type, DType) and expr.type.is_signed_int:
            return -env.normal(expr.a)
        case Cast(a=a, type=DType() as target) if target.is_int and _is_integer(a):
            inner = env.normal(a)
            source = a.type
            widening = isinstance(source, DType) and source.min_int >= target.min_int and source.max_int <= target.max_int
            return inner if widening or env.fits(inner, target) else atom_poly(_resolved(expr, env))
        case _:
            return atom_poly(_resolved(expr, env))


def _arithmetic(expr: Binary, dtype: DType, env: Env) -> Poly:
    a, b = env.normal(expr.a), env.normal(expr.b)
    if expr.op == "shl":
        shift = b.constant
        if shift is None or not 0 <= shift < dtype.bits:
            return atom_poly(_resolved(expr, env))
        poly = a.scaled(1 << shift)
    else:
        poly = {"add": a.__add__, "sub": a.__sub__, "mul": a.__mul__}[expr.op](b)
    if dtype.is_unsigned_int and not env.fits(merge_quotients(poly, env), dtype):
        return atom_poly(_resolved(expr, env))
    return poly


def _quotient(a: Expr, d: int, op: str, env: Env) -> Poly:
    """``a / d`` or ``a % d`` of a non-negative value: exact parts leave the division, the rest is an atom over the normal form."""
    poly = env.normal(a)
    if poly.constant is not None:
        return const_poly(poly.constant // d if op == "div" else poly.constant % d)
    exact = Poly({m: c // d for m, c in poly.terms.items() if c % d == 0})
    rest = Poly({m: c for m, c in poly.terms.items() if c % d})
    known = env.bounds(rest)
    if known.at_least(0):
        if known.at_most(d - 1) or env.never_negative(const_poly(d - 1) - rest):
            return exact if op == "div" else rest
        atom = _division(op, rest, d, env)
        return exact + atom_poly(atom) if op == "div" else atom_poly(atom)
    return atom_poly(_division(op, poly, d, env))


# The dividend p is known to lie in [0, 2^64). Where every u64 in it is known to be below 2^63, i64 arithmetic gives p; else arithmetic
# modulo 2^64 does.
def _division(op: str, dividend: Poly, d: int, env: Env) -> Binary:
    wide = any(atom.type is DType.U64 and not env.atom_range(atom).within(DType.I64) for atom in dividend.atoms())
    dtype = DType.U64 if wide else DType.I64
    return Binary(op, to_expr(dividend, dtype), Const(d, dtype))


def _resolved(expr: Expr, env: Env) -> Expr:
    """An opaque atom, its definitions looked through so that equal values are equal atoms."""
    for _ in range(MAX_LETS):
        used = {e.sym for e in walk_expr(expr) if isinstance(e, Var) and e.sym in env.lets and env.stable(env.lets[e.sym])}
        if not used:
            break
        expr = substitute_expr(expr, {s: env.lets[s] for s in used})
    return expr


def _nonnegative(expr: Expr, env: Env) -> bool:
    poly = env.normal(expr)
    return env.bounds(poly).at_least(0) or env.never_negative(poly)


def _is_integer(expr: Expr) -> bool:
    return isinstance(expr.type, DType) and not expr.type.is_float


def merge_quotients(poly: Poly, env: Env) -> Poly:
    """``d * (x / d) + x % d`` is ``x`` (C11 6.5.5), also where both are multiplied by one thing, and for a ``d`` that is a symbol."""
    for monomial, c in poly.terms.items():
        for atom in monomial:
            if not (isinstance(atom, Binary) and atom.op == "mod" and isinstance(atom.b, Const | Var)):
                continue
            others = list(monomial)
            others.remove(atom)
            quotient = Binary("div", atom.a, atom.b)
            symbolic = isinstance(atom.b, Var)
            partner = tuple(sorted([*others, quotient, *([atom.b] if symbolic else [])], key=atom_key))
            wanted = c if symbolic else c * int(atom.b.value) if isinstance(atom.b, Const) else 0
            if poly.terms.get(partner) == wanted:
                rest = Poly({m: k for m, k in poly.terms.items() if m not in (monomial, partner)})
                whole = env.normal(atom.a) * Poly({tuple(others): c})
                return merge_quotients(rest + whole, env)
    return poly


def to_expr(poly: Poly, dtype: DType = DType.I64) -> Expr:
    """An expression of type ``dtype`` with the value of a polynomial (modulo 2^64), in a canonical order."""
    total: Expr | None = None
    for monomial, c in sorted(poly.terms.items(), key=lambda item: [atom_key(a) for a in item[0]]):
        one = Const(1, dtype)
        term: Expr = Const(c if dtype is DType.I64 else c % 2**64, dtype)
        for atom in monomial:
            wide = atom if atom.type == dtype else Cast(atom, dtype)
            term = wide if term == one else Binary("mul", term, wide)
        total = term if total is None else Binary("add", total, term)
    return total or Const(0, dtype)
