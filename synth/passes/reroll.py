"""``reroll``: vector statements of the source (``float4``) become loops over their lanes, so that any width can be chosen later."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import Env, env_at
from synth.errors import IllegalPassError
from synth.ir.builder import i32
from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import Binary, Broadcast, Cast, Const, Expr, For, Lane, Load, MakeVec, Math, Module, Select, Store, Sym, Unary, Var
from synth.ir.traversal import expr_children, map_expr_children, replace_stmt, site_names, walk, walk_expr
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Reroll:
    """Replaces the ``number``-th vector store to a buffer by a loop over its lanes.

    Before: ``let v = A[4*i]:f32x4; C[4*i] = vec(f(lane<0>(v)), f(lane<1>(v)), f(lane<2>(v)), f(lane<3>(v)))``
    After:  ``for l in 0..4 { C[4*i + l] = f(A[4*i + l]) }``
    """

    name: ClassVar[str] = "reroll"
    buf: str
    number: int

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Vector stores that qualify."""
        names = site_names(module)
        counts: dict[Sym, int] = {}
        found = []
        for store in (s for s in walk(module.body) if isinstance(s, Store) and _is_vector(s)):
            counts[store.buf] = counts.get(store.buf, 0) + 1
            if not isinstance(_plan(module, store), str):
                found.append(cls(names[store.buf], counts[store.buf]))
        return tuple(found)

    # Every lane of the value is one and the same function of the lane number l and of the l-th elements of what was loaded; lane l of the
    # store writes element l only; and where the stored buffer is read too, lane l reads its own element l and no other: so the order of
    # lanes is free, and evaluating a lane after an earlier lane was stored changes nothing.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        store = _find(module, self.buf, self.number)
        if store is None:
            return Illegal(f"there is no vector store number {self.number} to '{self.buf}'", self.buf)
        plan = _plan(module, store)
        return Illegal(plan, self.buf) if isinstance(plan, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        store = _find(module, self.buf, self.number)
        plan = _plan(module, store) if store else "there is no such store"
        if store is None or isinstance(plan, str):
            raise IllegalPassError(f"reroll {self.buf}: {plan}")
        return dataclasses.replace(module, body=replace_stmt(module.body, store, plan))


class _NotUniform(Exception):
    """The reason in its message."""


def _is_vector(s: Store) -> bool:
    return isinstance(s.value.type, Vec) and bool(s.index) and s.mask is None and s.value.type.dtype is not DType.BOOL


def _find(module: Module, buf: str, number: int) -> Store | None:
    names = site_names(module)
    found = [s for s in walk(module.body) if isinstance(s, Store) and _is_vector(s) and names[s.buf] == buf]
    return found[number - 1] if 0 < number <= len(found) else None


def _plan(module: Module, store: Store) -> For | str:
    env = env_at(module, store)
    vector = store.value.type
    if not isinstance(vector, Vec):
        return "it stores no vector"
    lane = Sym("l")
    number = Var(lane, DType.I32)
    try:
        value = _lane(store.value, number, env.lets, env)
    except _NotUniform as error:
        return str(error)
    index = (*store.index[:-1], _plus(store.index[-1], number))
    own = [e for e in walk_expr(value) if isinstance(e, Load) and e.buf == store.buf]
    if any(e.index != index for e in own):
        return f"lanes read other elements of '{store.buf.name}'"
    changed = {e.buf for e in walk_expr(value) if isinstance(e, Load)} & (env.written - {store.buf})
    if changed or (own and not _loaded_just_before(module, store, env)):
        return f"'{next(iter(changed), store.buf).name}' may have changed since it was loaded"
    body = (Store(store.buf, index, value, None, store.loc),)
    return For(lane, DType.I32, i32(0), i32(vector.lanes), i32(1), body, None, store.loc)


def _loaded_just_before(module: Module, store: Store, env: Env) -> bool:
    """Whether no other statement writes the stored buffer: then the elements still hold what was loaded."""
    return sum(1 for s in walk(module.body) if isinstance(s, Store) and s.buf == store.buf) == 1 and store.buf in env.written


def _plus(index: Expr, number: Var) -> Expr:
    dtype = scalar(index.type)
    return Binary("add", index, number if dtype is DType.I32 else Cast(number, dtype))


def _lane(e: Expr, number: Var, lets: Mapping[Sym, Expr], env: Env) -> Expr:
    """Lane ``number`` of a vector expression, as a scalar expression."""
    match e:
        case Load(mask=None) if e.index:
            return Load(e.buf, (*e.index[:-1], _plus(e.index[-1], number)), scalar(e.type))
        case Broadcast():
            return e.a
        case Var() if e.sym in lets:
            return _lane(lets[e.sym], number, lets, env)
        case Binary() | Unary() | Select():
            return map_expr_children(e, lambda x: _lane(x, number, lets, env) if isinstance(x.type, Vec) else x)
        case Math(type=Vec() as v):
            return Math(e.fn, tuple(_lane(a, number, lets, env) for a in e.args), v.dtype)
        case Cast(type=Vec() as v):
            return Cast(_lane(e.a, number, lets, env), v.dtype)
        case MakeVec():
            elements = [_inlined(x, lets) for x in e.elems]
            return _unified(elements, number, lets, env)
        case _:
            raise _NotUniform(f"a {type(e).__name__} is not taken apart into lanes")


def _inlined(e: Expr, lets: Mapping[Sym, Expr]) -> Expr:
    """Scalar definitions that pick lanes are looked through."""
    if isinstance(e, Var) and e.sym in lets and not isinstance(lets[e.sym].type, Vec) and _picks_lane(lets[e.sym], lets):
        return _inlined(lets[e.sym], lets)
    return map_expr_children(e, lambda x: _inlined(x, lets))


def _picks_lane(e: Expr, lets: Mapping[Sym, Expr]) -> bool:
    for x in walk_expr(e):
        if isinstance(x, Lane | Load):
            return True
        if isinstance(x, Var) and x.sym in lets and x is not e and _picks_lane(lets[x.sym], lets):
            return True
    return False


def _unified(elements: list[Expr], number: Var, lets: Mapping[Sym, Expr], env: Env) -> Expr:
    """One expression of the lane number that gives the k-th element at k. Raises _NotUniform."""
    first = elements[0]
    if all(e == first for e in elements) and not any(isinstance(x, Lane) for x in walk_expr(first)):
        return first
    if all(isinstance(e, Lane) for e in elements):
        vectors = {e.a for e in elements if isinstance(e, Lane)}
        if len(vectors) == 1 and [e.i for e in elements if isinstance(e, Lane)] == list(range(len(elements))):
            return _lane(vectors.pop(), number, lets, env)
        raise _NotUniform("lanes are permuted")
    if all(isinstance(e, Load) and e.buf == first.buf and e.mask is None for e in elements if isinstance(first, Load)) and isinstance(
        first, Load
    ):
        return _consecutive([e for e in elements if isinstance(e, Load)], number, env)
    if any(type(e) is not type(first) or _shape(e) != _shape(first) for e in elements):
        raise _NotUniform("the lanes compute different things")
    columns = zip(*(expr_children(e) for e in elements), strict=True)
    parts = iter([_unified(list(column), number, lets, env) for column in columns])
    if not expr_children(first):
        raise _NotUniform("the lanes hold different values")
    return map_expr_children(first, lambda _: next(parts))


def _consecutive(elements: list[Load], number: Var, env: Env) -> Expr:
    first = elements[0]
    for k, e in enumerate(elements):
        if e.index[:-1] != first.index[:-1] or (env.normal(e.index[-1]) - env.normal(first.index[-1])).constant != k:
            raise _NotUniform("the lanes load elements that are not consecutive")
    return Load(first.buf, (*first.index[:-1], _plus(first.index[-1], number)), first.type)


def _shape(e: Expr) -> tuple[object, ...]:
    """What two nodes must share besides their children."""
    match e:
        case Const() | Var():
            return (e,)
        case _:
            return tuple(getattr(e, f) for f in e.__slots__ if not isinstance(getattr(e, f), Expr | tuple))
