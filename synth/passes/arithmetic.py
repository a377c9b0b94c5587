"""Simplification of expressions under an environment: exact folding, canonical integer forms, decided conditions, narrow index types."""

from __future__ import annotations

import struct

from synth.analysis.linear import Env, constraints
from synth.analysis.polynomial import Atom, Poly, atom_key, const_poly
from synth.ir.builder import cast, const
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import COMPARE_OPS, Binary, Broadcast, Cast, Const, Expr, Lane, Load, MakeVec, Select, Unary, Var
from synth.ir.traversal import map_expr_children, walk_expr


def simplified(expr: Expr, env: Env) -> Expr:
    """An expression of the same type and value wherever ``env`` holds, no larger than before."""
    known = env.simple.get(id(expr))
    if known is not None and known[0] is expr:
        return known[1]
    # Each node may be looked at by its own canonical form and, where that is refused, by its parent's folding: remembered, that is linear.
    found = _simplified(expr, env)
    env.simple[id(expr)] = (expr, found)
    return found


def _simplified(expr: Expr, env: Env) -> Expr:
    if is_integer(expr) and not isinstance(expr, Const | Var):
        rebuilt = _canonical_integer(expr, env)
        if rebuilt is not None:
            return rebuilt
    match expr:
        case Select() if not isinstance(expr.cond.type, Vec):
            cond = simplified(expr.cond, env)
            if isinstance(cond, Const):
                return simplified(expr.a if cond.value else expr.b, env)
            a, b = simplified(expr.a, env.with_fact(cond)), simplified(expr.b, env.with_fact(cond, False))
            return a if a == b else Select(cond, a, b)
        case Binary(op="land" | "lor"):
            return _logical(expr, env)
        case _:
            return _folded(map_expr_children(expr, lambda e: simplified(e, env)), env)


def is_integer(expr: Expr) -> bool:
    return isinstance(expr.type, DType) and expr.type.is_int


# ------------------------------------------------------------------------------------------------------ integer forms


def _canonical_integer(expr: Expr, env: Env) -> Expr | None:
    """The polynomial of an integer expression written out again, when that is exact and not larger."""
    dtype = expr.type
    if not isinstance(dtype, DType):
        return None
    poly = env.normal(expr)
    if len(poly.terms) == 1 and (expr,) in poly.terms:
        return None
    new = written(poly, dtype, env)
    return new if _size(new) <= _size(expr) + 1 else None


def written(poly: Poly, dtype: DType, env: Env) -> Expr:
    """An expression of type ``dtype`` for a polynomial, computed in ``i32`` where all its parts fit, and without unsigned wrap-around (of
    less than 64 bits: nothing wider is there to avoid it, and what wraps within gives the same)."""
    work = dtype
    if dtype.bits >= 32 and env.bounds(poly).within(DType.I32) and _fits(poly, env, DType.I32):
        work = DType.I32
    elif dtype.is_unsigned_int and dtype.bits < 64 and not _fits(poly, env, dtype):
        work = DType.I64
    return cast(write(poly, work, env), dtype)


def _fits(poly: Poly, env: Env, dtype: DType) -> bool:
    """Whether every partial sum, positive terms first, stays within an integer type."""
    total = const_poly(0)
    for monomial, c in _ordered(poly):
        term = Poly({monomial: c})
        total = total + term
        if not env.bounds(term).within(dtype) or not env.bounds(total).within(dtype):
            return False
        if not all(env.atom_range(atom).within(dtype) for atom in monomial):
            return False
    return True


def _ordered(poly: Poly) -> list[tuple[tuple[Atom, ...], int]]:
    """Positive terms before negative ones, larger coefficients first, the constant last."""
    return sorted(poly.terms.items(), key=lambda item: (item[1] < 0, item[0] == (), -abs(item[1]), [atom_key(a) for a in item[0]]))


def write(poly: Poly, dtype: DType, env: Env) -> Expr:
    """An expression of type ``dtype`` for a polynomial. Precondition: it fits (see ``_fits``), or ``dtype`` wraps as the original did."""
    total: Expr | None = None
    for monomial, c in _ordered(poly):
        negative = c < 0 and total is not None
        term = _product(monomial, -c if negative else c, dtype, env)
        total = term if total is None else Binary("sub" if negative else "add", total, term)
    return total if total is not None else const(0, dtype)


def _product(monomial: tuple[Atom, ...], c: int, dtype: DType, env: Env) -> Expr:
    factors = [_atom(atom, dtype, env) for atom in monomial]
    if c != 1 or not factors:
        factors.append(const(c, dtype))
    total = factors[0]
    for factor in factors[1:]:
        total = Binary("mul", total, factor)
    return total


def _atom(atom: Atom, dtype: DType, env: Env) -> Expr:
    """An atom in the working type; quotients of canonical form are written in it again."""
    if isinstance(atom, Binary) and atom.op in ("div", "mod") and isinstance(atom.b, Const) and atom.type != dtype:
        inner = env.normal(atom.a)
        if env.bounds(inner).within(dtype) and int(atom.b.value) <= dtype.max_int:
            return Binary(atom.op, write(inner, dtype, env), const(int(atom.b.value), dtype))
    inner_simple = map_expr_children(atom, lambda e: simplified(e, env))
    return cast(inner_simple, dtype)


def _size(expr: Expr) -> int:
    return sum(1 for e in walk_expr(expr) if not isinstance(e, Cast))


# ------------------------------------------------------------------------------------------------------------ folding


def _logical(expr: Binary, env: Env) -> Expr:
    conjunction = expr.op == "land"
    a = simplified(expr.a, env)
    if isinstance(a, Const):
        return simplified(expr.b, env) if bool(a.value) == conjunction else a
    b = simplified(expr.b, env.with_fact(a, conjunction))
    if isinstance(b, Const):
        return a if bool(b.value) == conjunction else b
    return a if a == b else Binary(expr.op, a, b)


def _folded(e: Expr, env: Env) -> Expr:
    """One step on a node whose children are simple already."""
    match e:
        case Binary(op=op) if op in COMPARE_OPS and is_integer(e.a):
            return _comparison(e, env)
        case Binary(op="min" | "max") if is_integer(e):
            a, b = env.normal(e.a), env.normal(e.b)
            if env.never_negative(b - a):
                return e.a if e.op == "min" else e.b
            if env.never_negative(a - b):
                return e.b if e.op == "min" else e.a
            return e
        case Unary(op="lnot", a=Const(value=value)):
            return const(not value, DType.BOOL)
        case Unary(op="lnot", a=Unary(op="lnot", a=inner)):
            return inner
        case Unary(op="lnot", a=Binary(op="land" | "lor" as op) as inner):
            sides = [_folded(Unary("lnot", side), env) for side in (inner.a, inner.b)]
            return Binary("lor" if op == "land" else "land", sides[0], sides[1])
        case Unary(op="lnot", a=Binary(op=op) as inner) if op in COMPARE_OPS and is_integer(inner.a):
            opposite = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}[op]
            return Binary(opposite, inner.a, inner.b)
        case Cast(a=inner, type=target) if inner.type == target:
            return inner
        case Cast(a=Cast(a=inner, type=DType() as middle), type=DType() as target) if _passes_through(inner, middle, env):
            return cast(inner, target)
        case Cast(a=Const(value=value) as inner, type=DType() as target):
            return _cast_constant(inner, target)
        case Lane(a=MakeVec(elems=elems), i=i):
            return elems[i]
        case Lane(a=Var(sym=sym), i=i) if isinstance(env.lets.get(sym), MakeVec | Load | Broadcast) and env.stable(env.lets[sym]):
            return _folded(Lane(env.lets[sym], i), env)
        case Binary(op="add", a=Broadcast(a=Const(value=0)), b=b) if isinstance(e.type, Vec) and e.type.dtype.is_int:
            return b
        case Lane(a=Broadcast(a=inner)):
            return inner
        case Lane(a=a, i=i) if isinstance(a.type, Vec) and a.type.dtype is DType.BOOL:
            known = _lane_value(a, i, env)
            return e if known is None else const(known, DType.BOOL)
        case Lane(a=Load(mask=None) as inner, i=i) if inner.index and isinstance(inner.type, Vec):
            last = inner.index[-1]
            moved = Binary("add", last, const(i, last.type)) if i and isinstance(last.type, DType) else last
            return Load(inner.buf, (*inner.index[:-1], simplified(moved, env)), inner.type.dtype)
        case Binary(a=Const() as a, b=Const() as b) if (
            a.type.is_float and e.op in ("add", "sub", "mul") and a.type in (DType.F32, DType.F64)
        ):
            return _float_constant(e.op, float(a.value), float(b.value), a.type) or e
        case Binary(op="mul", a=a, b=Const(value=1.0)) if isinstance(a.type, DType) and a.type.is_float:
            return a
        case Unary(op="neg", a=Const(value=value) as inner) if inner.type.is_float:
            return const(-float(value), inner.type)
        case _:
            return e


def _lane_value(mask: Expr, i: int, env: Env) -> bool | None:
    """Lane ``i`` of a mask, where it is known."""
    match mask:
        case Var(sym=sym) if sym in env.lets:
            return _lane_value(env.lets[sym], i, env)
        case Unary(op="lnot"):
            inner = _lane_value(mask.a, i, env)
            return None if inner is None else not inner
        case Binary(op="and" | "or" as op):
            sides = [_lane_value(side, i, env) for side in (mask.a, mask.b)]
            decided = op == "or"
            if decided in sides:
                return decided
            return None if None in sides else not decided
        case Binary(op=op) if op in COMPARE_OPS:
            a, b = _lane_of(mask.a, i), _lane_of(mask.b, i)
            if a is None or b is None or not is_integer(a):
                return None
            decided_by = _comparison(Binary(op, a, b), env)
            return bool(decided_by.value) if isinstance(decided_by, Const) else None
        case _:
            return None


def _lane_of(e: Expr, i: int) -> Expr | None:
    """Lane ``i`` of an integer vector made of scalars."""
    match e:
        case MakeVec():
            return e.elems[i]
        case Broadcast():
            return e.a
        case Binary(op="add" | "sub" | "mul"):
            a, b = _lane_of(e.a, i), _lane_of(e.b, i)
            return None if a is None or b is None else Binary(e.op, a, b)
        case _:
            return None


def _passes_through(inner: Expr, middle: DType, env: Env) -> bool:
    """Whether an integer survives a conversion unchanged."""
    return middle.is_int and is_integer(inner) and env.range_of(inner).within(middle)


def _comparison(e: Binary, env: Env) -> Expr:
    holds = list(constraints(e, True, env))
    if holds and all(env.never_negative(p) for p in holds):
        return const(True, DType.BOOL)
    fails = list(constraints(e, False, env))
    if fails and all(env.never_negative(p) for p in fails):
        return const(False, DType.BOOL)
    a, b = env.normal(e.a), env.normal(e.b)
    if e.a.type != DType.I32 and _fits(a, env, DType.I32) and _fits(b, env, DType.I32):
        narrow = Binary(e.op, write(a, DType.I32, env), write(b, DType.I32, env))
        if _size(narrow) <= _size(e) + 1:
            return narrow
    return e


def _cast_constant(c: Const, target: DType) -> Expr:
    if target in (DType.F16, DType.BF16):
        return Cast(c, target)
    if target is DType.BOOL:
        return const(bool(c.value), DType.BOOL)
    if target.is_float:
        value = float(c.value)
        rounded = struct.unpack("f", struct.pack("f", value))[0] if target is DType.F32 and abs(value) < 3e38 else value
        return (
            Const(rounded, target)
            if target is DType.F64 or abs(value) < 3e38 or value in (float("inf"), float("-inf"))
            else Cast(c, target)
        )
    if c.type.is_float:
        value = float(c.value)
        inside = abs(value) < 2**62 and target.min_int <= int(value) <= target.max_int
        return const(int(value), target) if inside else Cast(c, target)
    wrapped = int(c.value) & ((1 << target.bits) - 1)
    return const(wrapped - (1 << target.bits) if wrapped > target.max_int else wrapped, target)


def _float_constant(op: str, a: float, b: float, dtype: DType) -> Const | None:
    """The correctly rounded result: exact in double for f32 sums and products of f32 values up to double rounding, which is innocuous."""
    value = {"add": a + b, "sub": a - b, "mul": a * b}[op]
    if value != value or abs(value) > 3e38:
        return None
    return Const(struct.unpack("f", struct.pack("f", value))[0] if dtype is DType.F32 else value, dtype)
