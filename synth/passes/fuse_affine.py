"""Two nested loops that only ever count ``c * outer + inner`` as one loop over that sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.analysis.linear import Env, env_at, step_into, to_expr
from synth.analysis.polynomial import Poly, atom_poly, const_poly
from synth.analysis.ranges import Range
from synth.analysis.solver import contradictory
from synth.analysis.speculation import is_harmless
from synth.ir.builder import const
from synth.ir.dtypes import DType
from synth.ir.grammar import COMPARE_OPS, Binary, Body, Const, Expr, For, Let, Load, Module, Stmt, Sym, Var
from synth.ir.traversal import bodies, map_expr_children, map_stmt_exprs, walk, walk_expr, with_bodies, written_buffers
from synth.passes.arithmetic import is_integer, simplified, write, written
from synth.passes.loop_split import breaks


class NotAffine(Exception):
    """The reason in its message."""


@dataclass(frozen=True, slots=True)
class _Sum:
    """``index = factor * outer + inner``. ``parts`` are definitions of a part of the sum only: they go, and what uses them is written
    anew."""

    outer: Var
    inner: Var
    index: Var
    factor: int
    parts: set[Sym] = field(default_factory=set)


def fused_affine(module: Module, outer: For, inner: For) -> For:
    """The one loop. Raises NotAffine with the reason where there is none.

    ``for o in lo..hi step s { lets; for j in 0..min(c*s, H - c*o) { S(c*o + j) } }`` becomes ``for i in c*lo..min(c*hi, H) { lets; S(i)
    }``: the pairs (o, j) in their order are the values of i in ascending order, since the inner count is c*s except where H cuts it, and
    after H nothing runs.
    """
    if outer.axis is not inner.axis or outer.dtype is not inner.dtype:
        raise NotAffine("the loops differ in type or axis")
    if breaks(outer.body) or breaks(inner.body):
        raise NotAffine("a loop is left by break")
    env = env_at(module, outer)
    if any(not isinstance(s, Let) or any(isinstance(e, Load) for e in walk_expr(s.value)) for s in outer.body[:-1]):
        raise NotAffine("something else stands between the loops")
    within = env.with_loop(outer)
    for let in outer.body[:-1]:
        within = within.with_let(let) if isinstance(let, Let) else within
    if within.normal(inner.lo).constant != 0 or within.normal(inner.step).constant != 1:
        raise NotAffine("the inner loop does not run from 0 in steps of one")
    step = env.normal(outer.step).constant
    if step is None:
        raise NotAffine("the outer step is no literal")
    o, j = Var(outer.sym, outer.dtype), Var(inner.sym, inner.dtype)
    width, limits = _inner_bounds(within, inner.hi, o)
    factor, remainder = divmod(width, step)
    if remainder or factor < 1:
        raise NotAffine("the inner count is no multiple of the outer step")
    index = Var(_named(outer, inner, within.with_loop(inner), factor), outer.dtype)
    both = _Sum(o, j, index, factor)
    lo = env.normal(outer.lo).scaled(factor)
    if lo.constant is None:
        raise NotAffine("the outer loop does not start at a literal")
    ends = _ends(env, outer, factor, step, limits, o)
    if not all(env.bounds(p).within(outer.dtype) for p in (lo, *ends)):
        raise NotAffine("the bounds are not known to fit the loop variable")
    hi = write(ends[0], outer.dtype, env)
    for end in ends[1:]:
        hi = Binary("min", hi, write(end, outer.dtype, env))
    within = within.with_range(index.sym, Range(lo.constant, None))
    body = _rewritten((*outer.body[:-1], *inner.body), within, within.with_loop(inner), both, len(outer.body) - 1)
    return For(index.sym, outer.dtype, write(lo, outer.dtype, env), simplified(hi, env), const(1, outer.dtype), body, outer.axis, outer.loc)


def _inner_bounds(env: Env, hi: Expr, o: Var) -> tuple[int, list[Poly]]:
    """The literal bound of the inner loop, and the others."""
    width, others = None, []
    for part in _minima(hi, env):
        poly = env.normal(part)
        if poly.constant is not None:
            width = poly.constant if width is None else min(width, poly.constant)
        else:
            others.append(poly)
    if width is None or width < 1:
        raise NotAffine("the inner loop has no literal positive count")
    return width, others


def _minima(e: Expr, env: Env) -> Iterator[Expr]:
    while isinstance(e, Var) and e.sym in env.lets:
        e = env.lets[e.sym]
    if isinstance(e, Binary) and e.op == "min":
        yield from _minima(e.a, env)
        yield from _minima(e.b, env)
    else:
        yield e


def _ends(env: Env, outer: For, factor: int, step: int, limits: list[Poly], o: Var) -> list[Poly]:
    """Upper bounds of the sum: where the outer loop ends, and every ``H`` of an inner bound ``H - factor * o``. An end above another is
    dropped."""
    found = []
    changing = written_buffers(outer.body)
    for limit in limits:
        end = limit + atom_poly(o).scaled(factor)
        if any(isinstance(v, Var) and v.sym == o.sym for a in end.atoms() for v in walk_expr(a)):
            raise NotAffine(f"the inner bound depends on '{o.sym.name}' in another way")
        if not is_harmless(*end.atoms()):
            raise NotAffine("the inner bound may fail where the outer loop has no iterations")
        if any(isinstance(v, Load) and v.buf in changing for a in end.atoms() for v in walk_expr(a)):
            raise NotAffine("the inner bound is loaded from memory that the loops write")
        found.append(end)
    span = env.normal(outer.hi) - env.normal(outer.lo)
    whole = env.normal(outer.hi).scaled(factor)
    if step > 1:
        trips = span.constant
        if trips is None:
            # The last outer step may reach beyond the bound: only where an H ends the sum does that not matter.
            if not found:
                raise NotAffine("the outer loop has no literal count")
            if not all(c % step == 0 for c in span.terms.values()):
                return [*_tightest(env, [end for end in found if _covers(env, whole, end)])]
        else:
            whole = env.normal(outer.lo).scaled(factor) + const_poly(-(-trips // step) * step * factor)
    return _tightest(env, [whole, *found])


def _covers(env: Env, whole: Poly, end: Poly) -> bool:
    if not (env.never_negative(whole - end) or contradictory(env, (end - whole - const_poly(1),))):
        raise NotAffine("the outer loop may end before the inner bound")
    return True


def _tightest(env: Env, ends: list[Poly]) -> list[Poly]:
    """Without the ends that another one implies."""
    kept: list[Poly] = []
    for end in ends:
        if any(_below(env, other, end) for other in kept):
            continue
        kept = [other for other in kept if not _below(env, end, other)]
        kept.append(end)
    return kept


def _below(env: Env, a: Poly, b: Poly) -> bool:
    return env.never_negative(b - a) or bool(contradictory(env, (a - b - const_poly(1),)))


def _named(outer: For, inner: For, env: Env, factor: int) -> Sym:
    """The name that the program gives to the sum, or both names."""
    wanted = atom_poly(Var(outer.sym, outer.dtype)).scaled(factor) + atom_poly(Var(inner.sym, inner.dtype))
    for s in walk((*outer.body[:-1], *inner.body)):
        if isinstance(s, Let) and is_integer(s.value) and env.normal(s.value) == wanted:
            return s.sym.fresh()
        if isinstance(s, Let):
            env = env.with_let(s)
    return outer.sym.fresh(f"{outer.sym.name}.{inner.sym.name}")


def _rewritten(body: Body, env: Env, inside: Env, both: _Sum, leading: int) -> Body:
    """The body with the sum in place of its parts. ``env`` holds between the loops, ``inside`` in the inner one, ``leading`` definitions
    come first."""
    out: list[Stmt] = []
    for number, stmt in enumerate(body):
        here = env if number < leading else inside
        if isinstance(stmt, Let) and is_integer(stmt.value) and not _is_affine(stmt.value, here, both):
            both.parts.add(stmt.sym)
            env, inside = env.with_let(stmt), inside.with_let(stmt)
            continue
        new = map_stmt_exprs(stmt, lambda e, here=here: _replaced(e, here, both))  # type: ignore[misc]
        inner = tuple(_rewritten(b, step_into(here, stmt, k), step_into(here, stmt, k), both, 0) for k, b in enumerate(bodies(stmt)))
        out.append(with_bodies(new, inner))
        if isinstance(new, Let):
            env, inside = env.with_let(new), inside.with_let(new)
    return tuple(out)


def _mentions(e: Expr, both: _Sum) -> bool:
    return any(isinstance(v, Var) and (v.sym in (both.outer.sym, both.inner.sym) or v.sym in both.parts) for v in walk_expr(e))


def _is_affine(e: Expr, env: Env, both: _Sum) -> bool:
    try:
        _replaced(e, env, both)
    except NotAffine:
        return False
    return True


def _replaced(e: Expr, env: Env, both: _Sum) -> Expr:
    if not _mentions(e, both):
        return e
    if is_integer(e):
        return written(_poly(env.normal(e), env, both), e.type, env) if isinstance(e.type, DType) else e
    if isinstance(e, Binary) and e.op in COMPARE_OPS and is_integer(e.a):
        return _comparison(e, env, both)
    return map_expr_children(e, lambda x: _replaced(x, env, both))


def _comparison(e: Binary, env: Env, both: _Sum) -> Expr:
    difference = _poly(env.normal(e.a) - env.normal(e.b), env, both)
    above = Poly({m: c for m, c in difference.terms.items() if c > 0})
    below = -Poly({m: c for m, c in difference.terms.items() if c < 0})
    dtype = DType.I32 if all(env.bounds(p).within(DType.I32) for p in (above, below)) else DType.I64
    return Binary(e.op, write(above, dtype, env), write(below, dtype, env))


def _poly(poly: Poly, env: Env, both: _Sum) -> Poly:
    found = poly.substitute(lambda atom: _of_atom(atom, env, both))
    if any(_mentions(atom, both) for atom in found.atoms()):
        raise NotAffine(f"'{both.outer.sym.name}' and '{both.inner.sym.name}' are not only used as a sum")
    return found


def _of_atom(atom: Expr, env: Env, both: _Sum) -> Poly | None:
    if atom == both.inner:
        return atom_poly(both.index) - atom_poly(both.outer).scaled(both.factor)
    if atom == both.outer or not _mentions(atom, both):
        return None
    quotient = _quotient(atom, env, both)
    return quotient or atom_poly(map_expr_children(atom, lambda x: _replaced(x, env, both)))


def _quotient(atom: Expr, env: Env, both: _Sum) -> Poly | None:
    """``(rest + d*q*outer) / d`` is ``rest / d + q*outer`` where both dividends are at least 0; likewise the remainder is that of the
    rest."""
    if not isinstance(atom, Binary) or atom.op not in ("div", "mod") or not isinstance(atom.b, Const):
        return None
    d = int(atom.b.value)
    whole = env.normal(atom.a).substitute(lambda a: _of_atom(a, env, both))
    parts = Poly({m: c for m, c in whole.terms.items() if both.outer in m})
    rest = whole - parts
    if d <= 0 or any(c % d for c in parts.terms.values()) or any(_mentions(a, both) for a in rest.atoms()):
        return None
    if not _at_least_zero(env.bounds(rest)) or not _at_least_zero(env.range_of(atom.a)):
        return None
    new = atom_poly(Binary(atom.op, to_expr(rest), const(d, DType.I64)))
    return new if atom.op == "mod" else new + Poly({m: c // d for m, c in parts.terms.items()})


def _at_least_zero(known: Range) -> bool:
    return known.lo is not None and known.lo >= 0
