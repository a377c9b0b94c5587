"""``stride_merge``: the strided loops of the threads of a block become one loop over all elements."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Body, Expr, For, Launch, Let, Load, Module, Stmt, Sym, Var
from synth.ir.traversal import (
    bodies,
    replace_stmt,
    site_names,
    substitute_expr,
    used_values,
    walk_expr,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.iteration_order import any_order
from synth.passes.recovery_refit import Dimension, table
from synth.spec import DeviceSpec

_MAX_POINTS = 1 << 16


@dataclass(frozen=True, slots=True)
class _Strided:
    """A nest ``outer`` of literal loops around ``inner``, the Lets between them, and the merged loop's start."""

    top: For
    outer: tuple[For, ...]
    inner: For
    lets: tuple[Let, ...]
    start: Expr


def _nests(body: Body) -> Iterator[_Strided]:
    for stmt in body:
        if isinstance(stmt, Launch):
            continue
        if isinstance(stmt, For):
            found = _strided(stmt)
            if found is not None:
                yield found
                continue
        for inner in bodies(stmt):
            yield from _nests(inner)


def _strided(top: For) -> _Strided | None:
    outer: list[For] = []
    lets: list[Let] = []
    loop = top
    while _literal(loop) and loop.body and isinstance(loop.body[-1], For) and all(isinstance(s, Let) for s in loop.body[:-1]):
        outer.append(loop)
        lets += [s for s in loop.body[:-1] if isinstance(s, Let)]
        loop = loop.body[-1]
        start = _start(tuple(outer), loop)
        if start is not None:
            return _Strided(top, tuple(outer), loop, tuple(lets), start)
    return None


def _literal(loop: For) -> bool:
    return loop.axis is None and b.int_value(loop.lo) == 0 and b.int_value(loop.hi) is not None and b.int_value(loop.step) == 1


# The inner loop starts at base + own, where own, a function of the outer variables alone, takes each of the values c, ..., c + step - 1
# exactly once.
def _start(outer: tuple[For, ...], inner: For) -> Expr | None:
    """``base + c``, or None. A nest in which some outer loop does not matter is left to its own inner part."""
    step = b.int_value(inner.step)
    dims = [Dimension(loop.sym, b.int_value(loop.hi) or 0) for loop in outer]
    points = 1
    for dim in dims:
        points *= dim.extent
    if step is None or points != step or points > _MAX_POINTS or inner.axis is not None or inner.dtype is not DType.I32:
        return None
    syms = {d.sym for d in dims}
    base: list[Expr] = []
    own: list[Expr] = []
    for term in _terms(inner.lo):
        used = {e.sym for e in walk_expr(term) if isinstance(e, Var)}
        (own if used & syms else base).append(term)
    values = table(_sum(own), dims) if own else None
    if values is None or sorted(values.flat) != list(range(int(values.min()), int(values.min()) + step)):
        return None
    return _sum([*base, *([b.i32(int(values.min()))] if int(values.min()) or not base else [])])


def _terms(expr: Expr) -> list[Expr]:
    return [*_terms(expr.a), *_terms(expr.b)] if isinstance(expr, Binary) and expr.op == "add" else [expr]


def _sum(terms: list[Expr]) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = b.add(total, term)
    return total


def _merged(found: _Strided) -> tuple[tuple[Let, ...], For] | str:
    """``(Lets before, merged loop)``, or why not."""
    varying = {loop.sym for loop in found.outer}
    values: dict[Sym, Expr] = {}
    before: list[Let] = []
    written = written_buffers(found.inner.body)
    for let in found.lets:
        value = substitute_expr(let.value, values)
        if any(isinstance(e, Load) and e.buf in written for e in walk_expr(value)):
            return f"{let.sym.name} reads what the loop writes"
        if any(isinstance(e, Var) and e.sym in varying for e in walk_expr(value)):
            return f"{let.sym.name} depends on the thread"
        before.append(dataclasses.replace(let, value=value))
    if used_values(found.inner.body) & varying:
        return "the body depends on which thread runs it"
    exprs = (found.inner.hi, found.start)
    if any(isinstance(e, Var) and e.sym in varying for x in exprs for e in walk_expr(x)):
        return "the range depends on the thread"
    return tuple(before), dataclasses.replace(found.inner, lo=found.start, step=b.i32(1))


@dataclass(frozen=True, slots=True)
class StrideMerge:
    """One loop over what the threads of a block visit in turns.

    Before::

        for w<4 { for l<32 { for (i = w*32 + l; i < n; i += 128) { acc = acc + x[i]; } } }

    After::

        for i<n { acc = acc + x[i]; }

    ``site``: the strided loop.
    """

    name: ClassVar[str] = "stride_merge"
    site: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        names = site_names(module)
        return tuple(cls(names[f.inner.sym]) for f in _nests(module.body))

    # The outer variables give the starts base + c, ..., base + c + step - 1, each once; so the nest runs the body once for each i in
    # [base + c, hi), in some order, and the body depends on nothing but i. The merged loop runs the same iterations in increasing order,
    # which is allowed because they may run in any order (see any_order). Lets between the loops do not depend on the outer variables and
    # read nothing that the loop writes, so they are evaluated once before it.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = self._find(module)
        if found is None:
            return Illegal("not the strided loop of a nest whose outer loops visit each residue of the step once", self.site)
        merged = _merged(found)
        if isinstance(merged, str):
            return Illegal(merged, self.site)
        proved, reals = any_order(merged[1])
        if not proved:
            return Illegal("the iterations are not shown to be independent", self.site)
        return Legal(("reals",) if reals else ())

    def _find(self, module: Module) -> _Strided | None:
        names = site_names(module)
        return next((f for f in _nests(module.body) if names[f.inner.sym] == self.site), None)

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = self._find(module)
        assert found is not None
        merged = _merged(found)
        assert not isinstance(merged, str)
        new: tuple[Stmt, ...] = (*merged[0], merged[1])
        return dataclasses.replace(module, body=replace_stmt(module.body, found.top, new))
