"""``reduction_merge``: partial results that are folded later are folded at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Binary, Body, Const, Expr, For, Launch, Let, Load, Module, Space, Stmt, Store, Sym, Var
from synth.ir.traversal import (
    all_exprs,
    bodies,
    map_stmt_exprs,
    read_buffers,
    rewrite_expr,
    rewrite_stmts,
    site_names,
    used_values,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.cell_liveness import Place, live_after
from synth.passes.concrete import Machine
from synth.spec import DeviceSpec

IDENTITY: dict[str, float] = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}


def identity(op: str, kind: DType) -> Const:
    """The neutral number of a fold in a type."""
    value = IDENTITY[op]
    if kind.is_float:
        return Const(value, kind)
    return Const({"add": 0, "mul": 1, "max": kind.min_int, "min": kind.max_int}[op], kind)


@dataclass(frozen=True, slots=True)
class Accumulate:
    """``acc = acc op value``: ``acc`` is the buffer at ``index``."""

    acc: Sym
    index: tuple[Expr, ...]
    op: str
    value: Expr


def as_accumulate(stmt: Stmt) -> Accumulate | None:
    """``stmt`` as a reduction step whose value does not read the accumulator."""
    if not isinstance(stmt, Store) or stmt.mask is not None or not isinstance(stmt.value, Binary) or stmt.value.op not in IDENTITY:
        return None
    for own, value in ((stmt.value.a, stmt.value.b), (stmt.value.b, stmt.value.a)):
        if isinstance(own, Load) and own.buf == stmt.buf and own.index == stmt.index:
            reads = {e.buf for e in walk_expr(value) if isinstance(e, Load)}
            return None if stmt.buf in reads else Accumulate(stmt.buf, stmt.index, stmt.value.op, value)
    return None


# ---------------------------------------------------------------------------------------------- folds of an array


@dataclass(frozen=True, slots=True)
class _ArrayFold:
    """``body[fold]`` folds array ``p`` of which ``body[producer]`` computes one element an iteration."""

    body: Body
    producer: int
    fold: int
    step: Accumulate
    p: Sym


def _array_folds(module: Module, body: Body, outer: tuple[Place, ...] = ()) -> Iterator[_ArrayFold]:
    for k, stmt in enumerate(body):
        if isinstance(stmt, Launch):
            continue
        for inner in bodies(stmt):
            yield from _array_folds(module, inner, (*outer, Place(body, k + 1, stmt)))
        step = as_accumulate(stmt.body[0]) if isinstance(stmt, For) and len(stmt.body) == 1 else None
        if not isinstance(stmt, For) or step is None or step.index or not isinstance(step.value, Load):
            continue
        if step.value.index != (Var(stmt.sym, stmt.dtype),):
            continue
        found = _producer(body, k, stmt, step, step.value.buf)
        if found is not None and _dead(module, found.p, (*outer, Place(body, k + 1))):
            yield found


def _producer(body: Body, k: int, fold: For, step: Accumulate, p: Sym) -> _ArrayFold | None:
    j = next((i for i in range(k - 1, -1, -1) if p in written_buffers((body[i],))), None)
    if j is None:
        return None
    loop = body[j]
    same = isinstance(loop, For) and loop.axis is None and (loop.lo, loop.hi, loop.step) == (fold.lo, fold.hi, fold.step)
    if not isinstance(loop, For) or not same or not _private_element(loop, p):
        return None
    between = body[j + 1 : k]
    if any(step.acc in read_buffers((s,)) | written_buffers((s,)) for s in (loop,)) or not _movable(between, loop, step, p):
        return None
    return _ArrayFold(body, j, k, step, p)


# Every access of p in the producer is p[u], u its loop variable, and p[u] is stored at the top of the body before it is read.
def _private_element(loop: For, p: Sym) -> bool:
    own = (Var(loop.sym, loop.dtype),)
    accesses = [e.index for e in all_exprs(loop.body) if isinstance(e, Load) and e.buf == p]
    accesses += [s.index for s in walk(loop.body) if isinstance(s, Store) and s.buf == p]
    if any(index != own for index in accesses):
        return False
    for stmt in loop.body:
        if p in read_buffers((stmt,)):
            return False
        if isinstance(stmt, Store) and stmt.buf == p:
            return stmt.mask is None
        if p in written_buffers((stmt,)):
            return False
    return False


def _movable(between: Body, loop: For, step: Accumulate, p: Sym) -> bool:
    """Whether what stands between the producer and the fold can follow the fold, or (declaring and starting the accumulator) precede it."""
    for stmt in between:
        if _starts(stmt, step.acc, p):
            continue
        if step.acc in read_buffers((stmt,)) | written_buffers((stmt,)) or p in read_buffers((stmt,)) | written_buffers((stmt,)):
            return False
    return True


def _starts(stmt: Stmt, acc: Sym, p: Sym) -> bool:
    """The accumulator's allocation, or its start from a literal or from the first element of the array."""
    if isinstance(stmt, Alloc):
        return stmt.sym == acc
    if not isinstance(stmt, Store) or stmt.buf != acc:
        return False
    return isinstance(stmt.value, Const) or (isinstance(stmt.value, Load) and stmt.value.buf == p)


def _dead(module: Module, buffer: Sym, places: tuple[Place, ...]) -> bool:
    """Whether no element of a local buffer can be read at a point before it is overwritten."""
    if any(param.sym == buffer for param in module.params):
        return False
    live = live_after(buffer, places, Machine(0), False)
    return not live.cells and live.everything_but is None


def _merge_array(found: _ArrayFold) -> Body:
    body, step, p = found.body, found.step, found.p
    loop = body[found.producer]
    assert isinstance(loop, For) and isinstance(step.value, Load)
    kind = step.value.type
    assert isinstance(kind, DType)
    partial = p.fresh()

    def expr(e: Expr) -> Expr:
        return Load(partial, (), kind) if isinstance(e, Load) and e.buf == p else e

    def one(stmt: Stmt) -> Stmt:
        stmt = map_stmt_exprs(stmt, lambda e: rewrite_expr(e, expr))
        return dataclasses.replace(stmt, buf=partial, index=()) if isinstance(stmt, Store) and stmt.buf == p else stmt

    last = Store(step.acc, (), Binary(step.op, Load(step.acc, (), kind), Load(partial, (), kind)))
    inside = (Alloc(partial, kind, (), Space.LOCAL), *rewrite_stmts(loop.body, one), last)
    first: list[Stmt] = []
    later: list[Stmt] = []
    for stmt in body[found.producer + 1 : found.fold]:
        if not _starts(stmt, step.acc, p):
            later.append(stmt)
        elif isinstance(stmt, Store) and isinstance(stmt.value, Load):
            first.append(dataclasses.replace(stmt, value=identity(step.op, kind)))
        else:
            first.append(stmt)
    return (*body[: found.producer], *first, dataclasses.replace(loop, body=inside), *later, *body[found.fold + 1 :])


# ---------------------------------------------------------------------------------------------- folds of a scalar


@dataclass(frozen=True, slots=True)
class _ScalarFold:
    """``body[start]`` starts scalar ``q``, statements up to ``body[end]`` accumulate into it, ``body[end]`` adds it to ``step.acc``."""

    body: Body
    start: int
    end: int
    step: Accumulate
    q: Sym
    first: Const


def _scalar_folds(module: Module, body: Body, outer: tuple[Place, ...] = ()) -> Iterator[_ScalarFold]:
    for k, stmt in enumerate(body):
        if isinstance(stmt, Launch):
            continue
        for inner in bodies(stmt):
            yield from _scalar_folds(module, inner, (*outer, Place(body, k + 1, stmt)))
        step = _resolved(module, body, k, as_accumulate(stmt))
        if step is not None and isinstance(step.value, Load) and not step.value.index and not step.index:
            found = _scalar_fold(body, k, step, step.value.buf)
            if found is not None and _dead(module, found.q, (*outer, Place(body, k + 1))):
                yield found


def _resolved(module: Module, body: Body, k: int, step: Accumulate | None) -> Accumulate | None:
    """``step`` with a Let that only it uses, bound to a scalar that is not written since, replaced by that scalar."""
    if step is None or not isinstance(step.value, Var):
        return step
    name = step.value.sym
    at = next((i for i in range(k) if isinstance(s := body[i], Let) and s.sym == name), None)
    let = body[at] if at is not None else None
    if at is None or not isinstance(let, Let) or not isinstance(let.value, Load) or let.value.index:
        return step
    if let.value.buf in written_buffers(body[at:k]) or sum(1 for e in all_exprs(module.body) if isinstance(e, Var) and e.sym == name) != 1:
        return step
    return dataclasses.replace(step, value=let.value)


def _scalar_fold(body: Body, k: int, step: Accumulate, q: Sym) -> _ScalarFold | None:
    start = next((i for i in range(k - 1, -1, -1) if isinstance(s := body[i], Store) and s.buf == q), None)
    if start is None or not any(isinstance(s, Alloc) and s.sym == q for s in body[:start]):
        return None
    first = body[start]
    if not isinstance(first, Store) or not isinstance(first.value, Const):
        return None
    middle = _without_let(body[start + 1 : k], q, body[k])
    if step.acc in read_buffers(middle) | written_buffers(middle) or not _accumulates_only(middle, q, step.op):
        return None
    return _ScalarFold(body, start, k, step, q, first.value)


def _without_let(middle: Body, q: Sym, last: Stmt) -> Body:
    """``middle`` without the Let through which ``last`` reads ``q``."""
    used = used_values((last,))
    return tuple(s for s in middle if not (isinstance(s, Let) and s.sym in used and s.value == Load(q, (), s.value.type)))


def _accumulates_only(body: Body, q: Sym, op: str) -> bool:
    """Whether every access of ``q`` is a step ``q = q op value``."""
    steps = [s for s in walk(body) if (a := as_accumulate(s)) is not None and a.acc == q and a.op == op]
    reads = sum(1 for e in all_exprs(body) if isinstance(e, Load) and e.buf == q)
    writes = sum(1 for s in walk(body) if isinstance(s, Store) and s.buf == q)
    calls = any(q in written_buffers((s,)) and not isinstance(s, Store) for s in walk(body) if not bodies(s))
    return len(steps) == reads == writes and not calls


def _merge_scalar(module: Module, found: _ScalarFold) -> Body:
    body, step, q = found.body, found.step, found.q
    kind = found.first.type

    def expr(e: Expr) -> Expr:
        return Load(step.acc, (), kind) if isinstance(e, Load) and e.buf == q else e

    def one(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store) and stmt.buf == q:
            return dataclasses.replace(stmt, buf=step.acc, value=rewrite_expr(stmt.value, expr))
        return stmt

    middle = rewrite_stmts(_without_let(body[found.start + 1 : found.end], q, body[found.end]), one)
    once: Body = ()
    if not _absorbed(module, found):
        once = (Store(step.acc, (), Binary(step.op, Load(step.acc, (), kind), found.first)),)
    return (*body[: found.start], *once, *middle, *body[found.end + 1 :])


def _absorbed(module: Module, found: _ScalarFold) -> bool:
    """Whether folding ``first`` into the accumulator changes nothing: it is neutral, or the accumulator started from something at least
    as far."""
    op, value = found.step.op, float(found.first.value)
    if value == float(identity(op, found.first.type).value):
        return True
    if op not in ("max", "min"):
        return False
    starts = [s for s in walk(module.body) if isinstance(s, Store) and s.buf == found.step.acc and as_accumulate(s) is None]
    values = [float(s.value.value) for s in starts if isinstance(s.value, Const)]
    if len(values) != len(starts) or not values:
        return False
    steps = [a for s in walk(module.body) if (a := as_accumulate(s)) is not None and a.acc == found.step.acc]
    return all(a.op == op for a in steps) and all(v >= value if op == "max" else v <= value for v in values)


# -------------------------------------------------------------------------------------------------------- the pass


def _replace_body(body: Body, old: Body, new: Body) -> Body:
    if body is old:
        return new
    return tuple(with_bodies(s, tuple(_replace_body(inner, old, new) for inner in bodies(s))) for s in body)


@dataclass(frozen=True, slots=True)
class ReductionMerge:
    """Folds partial results as they arise.

    Before::

        for t<128 { p[t] = 0;  for i { p[t] = p[t] + e(t, i); } }      acc = 0;  for t<128 { acc = acc + p[t]; }

    After two applications (``site=p`` makes ``p`` a scalar of the loop, then that scalar is merged)::

        acc = 0;  for t<128 { for i { acc = acc + e(t, i); } }

    ``site``: the array or scalar of partial results.
    """

    name: ClassVar[str] = "reduction_merge"
    site: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        names = site_names(module)
        arrays = [names[f.p] for f in _array_folds(module, module.body)]
        scalars = [names[f.q] for f in _scalar_folds(module, module.body)]
        return tuple(cls(site) for site in dict.fromkeys(arrays + scalars))

    # Array p: the producer's iteration u is the only code that accesses p[u] before the fold, and stores it first; the fold visits the same
    # iterations in the same order, and nothing between touches p or the accumulator except the accumulator's start. Hence "acc = acc op
    # p[u]" may be done at the end of iteration u. A start from p's first element becomes the neutral number: that element is folded anyway
    # (max, min). Scalar q: q = c; steps q = q op e; acc = acc op q. Over the reals op is associative and commutative, and acc is not
    # touched meanwhile, so the steps may act on acc itself, and c is folded once (dropped where neutral or, for max and min, no farther
    # than acc's own start).
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        array, single = self._find(module)
        if array is None and single is None:
            return Illegal("no fold of partial results that could be done as they arise", self.site)
        return Legal() if array is not None else Legal(("reals",))

    def _find(self, module: Module) -> tuple[_ArrayFold | None, _ScalarFold | None]:
        names = site_names(module)
        array = next((f for f in _array_folds(module, module.body) if names[f.p] == self.site), None)
        return array, next((f for f in _scalar_folds(module, module.body) if names[f.q] == self.site), None)

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        array, single = self._find(module)
        if array is not None:
            old, new = array.body, _merge_array(array)
        else:
            assert single is not None
            old, new = single.body, _merge_scalar(module, single)
        return dataclasses.replace(module, body=_replace_body(module.body, old, new))
