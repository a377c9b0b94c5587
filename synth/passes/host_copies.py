"""``host_copies``: device buffers become the host's own buffers, copies and fills become nothing or plain loops."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, Self

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Call,
    Cast,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Module,
    Param,
    Region,
    Return,
    Role,
    Space,
    Stmt,
    Store,
    Sym,
    Var,
)
from synth.ir.traversal import bodies, read_buffers, rename_buffers, rewrite_stmts, substitute_expr, walk, walk_expr, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

Monomial = tuple[str, ...]


def size_form(expr: Expr, lets: dict[Sym, Expr]) -> dict[Monomial, int]:
    """A size in elements as a polynomial over its atoms. Integer conversions are dropped: sizes of buffers that exist are small and
    positive."""
    match expr:
        case Const():
            return {(): int(expr.value)} if expr.value else {}
        case Cast() if isinstance(expr.a.type, DType) and not expr.a.type.is_float:
            return size_form(expr.a, lets)
        case Var() if expr.sym in lets:
            return size_form(lets[expr.sym], lets)
        case Binary("add" | "sub" as op, x, y):
            total = dict(size_form(x, lets))
            for term, c in size_form(y, lets).items():
                total[term] = total.get(term, 0) + (c if op == "add" else -c)
            return {t: c for t, c in total.items() if c}
        case Binary("mul", x, y):
            product: dict[Monomial, int] = {}
            for tx, cx in size_form(x, lets).items():
                for ty, cy in size_form(y, lets).items():
                    term = tuple(sorted(tx + ty))
                    product[term] = product.get(term, 0) + cx * cy
            return {t: c for t, c in product.items() if c}
        case _:
            return {(repr(substitute_expr(expr, lets)),): 1}


@dataclass(frozen=True, slots=True)
class _Copy:
    """``dst[0:count] = src[0:count]``."""

    dst: Sym
    src: Sym
    count: Expr


def _as_copy(stmt: Stmt) -> _Copy | None:
    """A copy between the beginnings of two buffers, or None."""
    if not isinstance(stmt, Call) or stmt.op != "host.copy":
        return None
    dst, src = stmt.dests[0], stmt.args[0]
    if not isinstance(src, Region) or len(dst.extent) != 1 or len(src.extent) != 1:
        return None
    if b.int_value(dst.index[0]) != 0 or b.int_value(src.index[0]) != 0:
        return None
    return _Copy(dst.buf, src.buf, dst.extent[0])


@dataclass(slots=True)
class _Pair:
    """A device buffer ``d`` and a host buffer ``h`` while we check that one buffer can play both."""

    d: Sym
    h: Sym
    count: dict[Monomial, int]
    lets: dict[Sym, Expr]
    d_valid: bool = True
    h_valid: bool = True
    problem: str = ""
    copied_in: bool = False
    copied_out: bool = False

    def body(self, body: Body) -> None:
        for stmt in body:
            if self.problem:
                return
            self._statement(stmt)

    def finish(self) -> str:
        """The reason against merging, or ``""``."""
        return self.problem or ("" if self.h_valid else "the device copy is modified and the host keeps the old values")

    def _statement(self, stmt: Stmt) -> None:
        copy = _as_copy(stmt)
        if copy is not None and {copy.dst, copy.src} == {self.d, self.h}:
            self._copy(copy)
            return
        if isinstance(stmt, Return):
            self.problem = self.finish()
            return
        touched = read_buffers((stmt,)) | written_buffers((stmt,))
        if any(isinstance(s, Return) for s in walk((stmt,))) and isinstance(stmt, If):
            self._branches(stmt)
            return
        if {self.d, self.h} <= touched and any(isinstance(s, Call) and s.op == "host.copy" for s in walk((stmt,))):
            self.problem = "copied under control flow"
            return
        for sym in read_buffers((stmt,)) & {self.d, self.h}:
            self._need(sym, "read")
        for sym in written_buffers((stmt,)) & {self.d, self.h}:
            self._need(sym, "written")
            if sym == self.d:
                self.h_valid = False
            else:
                self.d_valid = False
            if not self._both_used_after(sym, stmt):
                return

    def _both_used_after(self, sym: Sym, stmt: Stmt) -> bool:
        """Within one statement the order of accesses is unknown: it must not touch the buffer that became stale."""
        other = self.h if sym == self.d else self.d
        if other in read_buffers((stmt,)) | written_buffers((stmt,)):
            self.problem = "one launch uses both the device copy and the original, and writes one of them"
            return False
        return True

    def _branches(self, stmt: If) -> None:
        before = (self.d_valid, self.h_valid)
        after: list[tuple[bool, bool]] = []
        for inner in bodies(stmt):
            self.d_valid, self.h_valid = before
            self.body(inner)
            if not (inner and isinstance(inner[-1], Return)):
                after.append((self.d_valid, self.h_valid))
        if after:
            self.d_valid, self.h_valid = all(x[0] for x in after), all(x[1] for x in after)

    def _need(self, sym: Sym, what: str) -> None:
        if not (self.d_valid if sym == self.d else self.h_valid):
            self.problem = f"{sym.name} is {what} after the other copy has changed"

    def _copy(self, copy: _Copy) -> None:
        self._need(copy.src, "copied")
        whole = size_form(copy.count, self.lets) == self.count
        if not whole and not (self.d_valid and self.h_valid):
            self.problem = "a copy of a part of the buffer"
        if copy.dst == self.d:
            self.copied_in, self.d_valid = True, True
        else:
            self.copied_out, self.h_valid = True, True


@dataclass(slots=True)
class _Plan:
    """Device buffers to be replaced (``merged``), and why the others stay."""

    merged: dict[Sym, Sym] = field(default_factory=dict)
    roles: dict[Sym, Role] = field(default_factory=dict)
    shapes: dict[Sym, Expr] = field(default_factory=dict)
    kept: dict[Sym, str] = field(default_factory=dict)


def plan(module: Module) -> _Plan:
    """Which device buffer can be which host parameter."""
    found = _Plan()
    lets = {s.sym: s.value for s in module.body if isinstance(s, Let)}
    params = {p.sym: p for p in module.params if p.is_buffer}
    device = [s for s in module.body if isinstance(s, Alloc) and s.space is Space.GLOBAL]
    for alloc in device:
        if len(alloc.shape) != 1:
            continue
        count = size_form(alloc.shape[0], lets)
        for h in _partners(module.body, alloc.sym, params):
            reason = _objection(params[h], alloc, count, lets)
            if h in found.merged.values():
                reason = f"{h.name} already stands for another device buffer"
            pair = _Pair(alloc.sym, h, count, lets)
            if not reason:
                pair.body(module.body)
                reason = pair.finish()
            if reason:
                found.kept[alloc.sym] = reason
                continue
            found.kept.pop(alloc.sym, None)
            found.merged[alloc.sym] = h
            found.shapes[h] = alloc.shape[0]
            found.roles[h] = Role.INOUT if pair.copied_in and pair.copied_out else Role.IN if pair.copied_in else Role.OUT
            break
    return found


def _partners(body: Body, d: Sym, params: dict[Sym, Param]) -> list[Sym]:
    """Host parameters copied from or to ``d``; those copied from it first: an output is best computed in place."""
    copies = [c for c in map(_as_copy, walk(body)) if c is not None]
    out = [c.dst for c in copies if c.src == d and c.dst in params]
    return list(dict.fromkeys(out + [c.src for c in copies if c.dst == d and c.src in params]))


def _objection(param: Param, alloc: Alloc, count: dict[Monomial, int], lets: dict[Sym, Expr]) -> str:
    if param.dtype != alloc.dtype:
        return f"{param.sym.name} has another element type"
    if param.shape and size_form(param.shape[0], lets) != count:
        return f"{param.sym.name} has another extent"
    return ""


def _elementwise(region: Region, value: Expr | Region, count: Expr, name: str, source_type: DType) -> For:
    """``for i < count: region[i] = value`` or ``= value[i]``."""
    i = Sym(name)
    kind = count.type if isinstance(count.type, DType) else DType.I64

    def at(r: Region) -> tuple[Expr, ...]:
        base = b.cast(r.index[0], kind)
        return (Var(i, kind) if b.int_value(base) == 0 else b.add(base, Var(i, kind)),)

    element = Load(value.buf, at(value), source_type) if isinstance(value, Region) else value
    return For(i, kind, b.const(0, kind), count, b.const(1, kind), (Store(region.buf, at(region), element),))


def _as_loop(stmt: Stmt, types: dict[Sym, DType]) -> Stmt:
    if not isinstance(stmt, Call) or stmt.op not in ("host.copy", "host.fill"):
        return stmt
    dest, value = stmt.dests[0], stmt.args[0]
    name = "copy" if isinstance(value, Region) else "fill"
    return dataclasses.replace(_elementwise(dest, value, dest.extent[0], name, types[dest.buf]), loc=stmt.loc)


def _flat(stmt: Stmt) -> bool:
    """Whether a host operation is one that ``_as_loop`` can express."""
    regions = [r for r in (*stmt.dests, *stmt.args) if isinstance(r, Region)] if isinstance(stmt, Call) else []
    return all(len(r.index) == 1 and len(r.extent) == 1 for r in regions)


@dataclass(frozen=True, slots=True)
class HostCopies:
    """Removes device memory.

    Before::

        alloc d_x[n] global;  host.copy(d_x, x);  alloc d_y[n] global;  host.fill(d_y, 0);  launch f(d_x, d_y);  host.copy(y, d_y)

    After::

        for i<n { y[i] = 0; }  launch f(x, y)

    A device buffer that no host parameter can stand for (a temporary between launches, an input that is modified and not copied back)
    stays as a host allocation, and its copies become loops.
    """

    name: ClassVar[str] = "host_copies"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        return (cls(),) if _has_work(module) else ()

    # Device buffer d and host parameter h of equal type and extent become one buffer M. Along every path of the host code we keep which of
    # the two the source's memory agrees with M: a read or partial write of one requires that it agrees; a write of one makes the other
    # disagree; a whole copy from one that agrees makes both agree; at every return h agrees. Then every read sees in M what it saw before.
    # At its allocation d agrees with any M: device memory from cudaMalloc is uninitialised, its contents are indeterminate, and giving them
    # particular values (those of h) is a refinement. So an element of an output that no thread writes keeps the caller's value, where the
    # source would have copied garbage over it. Distinct parameters are taken not to overlap where the source's device buffers did not.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        if not _has_work(module):
            return Illegal("no device buffers and no host copies")
        for stmt in walk(module.body):
            if isinstance(stmt, Call) and stmt.op in ("host.copy", "host.fill") and not _flat(stmt):
                return Illegal(f"{stmt.op} of a region that is not flat")
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = plan(module)
        types = {s.sym: s.dtype for s in walk(module.body) if isinstance(s, Alloc) and isinstance(s.dtype, DType)}
        types |= {p.sym: p.dtype for p in module.params}

        def stmt(s: Stmt) -> Stmt | Body:
            if isinstance(s, Alloc) and s.sym in found.merged:
                return ()
            copy = _as_copy(s)
            if copy is not None and found.merged.get(copy.dst, copy.dst) == found.merged.get(copy.src, copy.src):
                return ()
            if isinstance(s, Alloc) and s.space is Space.GLOBAL:
                return dataclasses.replace(s, space=Space.HOST)
            return _as_loop(s, types)

        body = rename_buffers(rewrite_stmts(module.body, stmt), found.merged)
        return dataclasses.replace(module, body=body, params=tuple(_param(p, found, module) for p in module.params))


def _has_work(module: Module) -> bool:
    return any(
        (isinstance(s, Call) and s.op.startswith("host.")) or (isinstance(s, Alloc) and s.space is Space.GLOBAL) for s in walk(module.body)
    )


def _param(param: Param, found: _Plan, module: Module) -> Param:
    """What the copies say about a parameter that is not known otherwise: its extent, if it reads only parameters, and its role."""
    if param.sym not in found.roles:
        return param
    role = found.roles[param.sym] if param.role is Role.UNKNOWN else param.role
    lets = {s.sym: s.value for s in module.body if isinstance(s, Let)}
    shape = param.shape or (_closed(found.shapes[param.sym], lets),)
    known = {p.sym for p in module.params}
    if any(isinstance(e, Var) and e.sym not in known for e in _nodes(shape)):
        shape = param.shape or ()
    return dataclasses.replace(param, role=role, shape=shape)


def _closed(expr: Expr, lets: dict[Sym, Expr]) -> Expr:
    for _ in lets:
        expr = substitute_expr(expr, lets)
    return expr


def _nodes(exprs: tuple[Expr, ...]) -> list[Expr]:

    return [e for expr in exprs for e in walk_expr(expr)]
