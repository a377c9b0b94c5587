"""Extents and roles of pointer parameters that the host code does not state, from the regions that are accessed.

An extent is one more than an upper bound of every index, as an expression over the scalar parameters. Integer parameters that size
something (an
extent, an allocation, a launch) are taken to be non-negative, 64-bit ones also to be at most ``MAX_WIDE_SIZE``; the assumptions are added
to
the module, where they are visible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import reduce

from synth.analysis.access import Access, accesses
from synth.analysis.linear import Env, entry_env, to_expr
from synth.analysis.polynomial import Monomial, Poly, atom_poly, const_poly
from synth.errors import UnsupportedError
from synth.ir.builder import const
from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Body,
    Break,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Module,
    Param,
    Return,
    Role,
    Store,
    Sym,
    Var,
    While,
)
from synth.ir.traversal import bodies, walk, walk_expr, written_buffers

MAX_WIDE_SIZE = 1 << 30  # elements: a 64-bit size is taken to leave room for 32-bit indexes, as the sources that have them do


def complete_params(module: Module) -> Module:
    """The module with every pointer's extent and role known.

    Raises UnsupportedError naming the first parameter whose extent cannot be derived, with the ``--extent`` remedy.
    """
    module = assume_sizes(module)
    env = entry_env(module)
    found: dict[Sym, list[Access]] = {}
    for access in accesses(module.body, env):
        found.setdefault(access.buf, []).append(access)
    lets = {s.sym: s.value for s in walk(module.body) if isinstance(s, Let)}
    conditional = set(_conditional_writes(module.body, lets))
    params = tuple(_completed(p, found.get(p.sym, []), module, conditional) if p.is_buffer else p for p in module.params)
    return assume_sizes(dataclasses.replace(module, params=params))


def assume_sizes(module: Module) -> Module:
    """Adds ``p >= 0`` for integer parameters from which sizes are computed."""
    integers = {p.sym: p.dtype for p in module.params if not p.is_buffer and p.dtype.is_signed_int}
    sizing: list[Expr] = [e for p in module.params for e in p.shape or ()]
    definitions = {s.sym: s.value for s in walk(module.body) if hasattr(s, "value") and hasattr(s, "sym")}
    for stmt in walk(module.body):
        if isinstance(stmt, Alloc):
            sizing += stmt.shape
        elif isinstance(stmt, For) and stmt.axis is not None and (stmt.axis.is_block or stmt.axis is Axis.CORE):
            sizing.append(stmt.hi)
    used: set[Sym] = set()
    waiting = [e.sym for x in sizing for e in walk_expr(x) if isinstance(e, Var)]
    while waiting:
        sym = waiting.pop()
        if sym not in used:
            used.add(sym)
            if sym in definitions:
                waiting += [e.sym for e in walk_expr(definitions[sym]) if isinstance(e, Var)]
    wanted = [Binary("ge", Var(s, t), const(0, t)) for s, t in integers.items() if s in used]
    wanted += [Binary("le", Var(s, t), const(MAX_WIDE_SIZE, t)) for s, t in integers.items() if s in used and t is DType.I64]
    return dataclasses.replace(module, assumes=(*module.assumes, *(w for w in wanted if w not in module.assumes)))


def _completed(param: Param, found: list[Access], module: Module, conditional: set[Sym]) -> Param:
    role = param.role
    if role is Role.UNKNOWN:
        reads, writes = any(not a.is_write for a in found), any(a.is_write for a in found)
        role = Role.INOUT if reads and writes else Role.OUT if writes else Role.IN
    if role is Role.OUT and param.sym in conditional:
        role = Role.INOUT
    if param.shape:
        return dataclasses.replace(param, role=role)
    if not found:
        return dataclasses.replace(param, role=role, shape=(const(1, DType.I64),))
    shape = _extent(found, module)
    if shape is None:
        where = next((a.stmt.loc for a in found if _last(a, module) is None), None)
        name = param.sym.name
        raise UnsupportedError(
            f"the extent of parameter '{name}' cannot be derived from its accesses",
            where,
            f"give it with --extent {name}=EXPR, e.g. {name}=n*k",
        )
    return dataclasses.replace(param, role=role, shape=(shape,))


def accessed_extent(module: Module, param: Param) -> Expr | None:
    """An extent that no access of a pointer parameter exceeds, or None where none can be derived."""
    found = [a for a in accesses(module.body, entry_env(module)) if a.buf == param.sym]
    return None if not found or any(a.region is not None for a in found) else _extent(found, module)


def _last(access: Access, module: Module) -> Poly | None:
    """An upper bound of the last element that is accessed."""
    active = _last_active(access, module)
    if active is not None:
        return active
    extent = access.region.extent if access.region is not None else ()
    count = access.env.normal(extent[0]) if extent else const_poly(access.count)
    return _highest(access, access.env.normal(access.index[0]) + count - const_poly(1), module)


def overestimated(module: Module) -> frozenset[Sym]:
    """Pointer parameters whose derived extent may be beyond what the caller has: lanes are masked by what is not understood."""
    params = {p.sym for p in module.params}
    found = (a for a in accesses(module.body, entry_env(module)) if a.masked and a.buf in params)
    return frozenset(a.buf for a in found if _last_active(a, module) is None)


def _last_active(access: Access, module: Module) -> Poly | None:
    """An upper bound of the last element in an active lane, where only the leading lanes are active and it is known how many."""
    if access.active is None:
        return None
    return _highest(access, access.env.normal(access.index[0]) + access.env.normal(access.active) - const_poly(1), module)


def _highest(access: Access, last: Poly, module: Module) -> Poly | None:
    scalars = {p.sym for p in module.params if not p.is_buffer}
    bound, literal = upper_bound(access.env, last, scalars), access.env.bounds(last).hi
    known = None if bound is None else bound.constant
    return const_poly(literal) if known is not None and literal is not None and literal < known else bound


def _extent(found: list[Access], module: Module) -> Expr | None:
    bounds = [_last(a, module) for a in found]
    known = [b for b in bounds if b is not None]
    if len(known) < len(bounds):
        return None
    distinct = list({tuple(sorted(b.terms.items(), key=repr)): b for b in known}.values())
    largest = reduce(lambda a, b: _larger(a, b, found[0].env), distinct[1:], [distinct[0]])
    return reduce(lambda a, b: Binary("max", a, b), (to_expr(p + const_poly(1)) for p in largest))


def _larger(kept: list[Poly], new: Poly, env: Env) -> list[Poly]:
    """Keeps the bounds that none other is known to dominate."""
    base = Env(ranges=env.ranges)
    if any(base.never_negative(k - new) for k in kept):
        return kept
    return [*(k for k in kept if not base.never_negative(new - k)), new]


def _conditional_writes(body: Body, lets: Mapping[Sym, Expr], under: bool = False) -> Iterator[Sym]:
    """Buffers of which some write happens or not depending on data, so that old contents may remain."""
    for stmt in body:
        if under or (isinstance(stmt, Store) and any(_is_data(i, lets) for i in stmt.index)):
            yield from written_buffers((stmt,))
            continue
        asked = [stmt.cond] if isinstance(stmt, If | While) else [stmt.lo, stmt.hi] if isinstance(stmt, For) else []
        decided = any(_is_data(e, lets) for e in asked)
        for inner in bodies(stmt):
            yield from _conditional_writes(inner, lets, decided)
        under = decided and any(isinstance(s, Break | Continue | Return) for s in walk((stmt,)))


def _is_data(expr: Expr, lets: Mapping[Sym, Expr]) -> bool:
    """Whether a condition, a bound or an index looks at elements of arrays, or at floating-point values, which come from them. Mutable
    integers may be counters."""
    return any(
        (isinstance(e, Load) and (bool(e.index) or scalar(e.type).is_float))
        or (isinstance(e, Var) and (scalar(e.type).is_float or (e.sym in lets and _is_data(lets[e.sym], lets))))
        for e in walk_expr(expr)
    )


def upper_bound(env: Env, poly: Poly, scalars: set[Sym]) -> Poly | None:
    """A polynomial over scalar parameters that ``poly`` does not exceed where ``env`` holds, or None."""
    start = poly
    for _ in range(16):
        open_terms = [m for m in poly.terms if any(not (isinstance(a, Var) and a.sym in scalars) for a in m)]
        if not open_terms:
            return poly
        steps = [s for m in open_terms for s in _eliminations(poly, m, env, scalars)]
        if not steps:
            break
        poly = min(steps, key=lambda s: sum(1 for m in s.terms if any(not (isinstance(a, Var) and a.sym in scalars) for a in m)))
    bounded = env.upper(start)
    if all(isinstance(a, Var) and a.sym in scalars for a in bounded.atoms()):
        return bounded
    known = env.bounds(bounded)
    return const_poly(known.hi) if known.hi is not None and known.hi < 1 << 30 else None


def _eliminations(poly: Poly, monomial: Monomial, env: Env, scalars: set[Sym]) -> Iterator[Poly]:
    """Upper bounds of ``poly`` without one of its terms: a non-negative multiple of a fact is added, or a negative term dropped."""
    c = poly.terms[monomial]
    if c <= 0:
        known = env.bounds(Poly({monomial: 1}))
        if known.lo is not None and known.lo >= 0:
            yield Poly({m: k for m, k in poly.terms.items() if m != monomial})
        return
    for fact in env.facts:
        for own, k in fact.terms.items():
            if k >= 0 or not own or c % -k:
                continue
            rest = _without(monomial, own)
            if rest is None:
                continue
            if not all(isinstance(a, Var) and a.sym in scalars and env.never_negative(atom_poly(a)) for a in rest):
                continue
            yield poly + (Poly({tuple(rest): 1}) * fact).scaled(c // -k)


def _without(monomial: Monomial, part: Monomial) -> list[Expr] | None:
    """The factors of a monomial that are not those of ``part``; None when it does not contain them all."""
    rest = list(monomial)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return rest
