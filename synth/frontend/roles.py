"""What the host side says about the entry's pointers: host or device memory, extent in elements, and what is read and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from synth.frontend import sizes
from synth.frontend.reader.arithmetic import binary, convert
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Call, Const, Expr, Launch, Param, Region, Role, Space, Stmt, Store, Sym
from synth.ir.grammar import Load as LoadExpr
from synth.ir.traversal import bodies, read_buffers, stmt_exprs, walk_expr, written_buffers


@dataclass(slots=True)
class Use:
    """How one parameter is used. ``extents`` are the ends of the regions that copies touch, in elements; None once one is not known."""

    read: bool = False
    written: bool = False
    on_device: bool = False
    on_host: bool = False
    copied: bool = False
    extents: list[Expr] | None = field(default_factory=list)


def with_roles(params: Sequence[Param], body: Body, values: Mapping[Sym, Expr], scalars: frozenset[Sym]) -> tuple[Param, ...]:
    """``params`` with space, extent and role where the program says; the rest stays unknown."""
    uses = {p.sym: Use() for p in params if p.is_buffer}
    for stmt in _outside_launches(body):
        _note(stmt, uses, values, scalars)
    return tuple(_described(p, uses[p.sym]) if p.is_buffer else p for p in params)


def _outside_launches(body: Body) -> Iterator[Stmt]:
    for stmt in body:
        yield stmt
        if not isinstance(stmt, Launch):
            for inner in bodies(stmt):
                yield from _outside_launches(inner)


def _note(stmt: Stmt, uses: Mapping[Sym, Use], values: Mapping[Sym, Expr], scalars: frozenset[Sym]) -> None:
    if isinstance(stmt, Launch):
        for sym in read_buffers(stmt.body) & uses.keys():
            uses[sym].read = uses[sym].on_device = True
        for sym in written_buffers(stmt.body) & uses.keys():
            uses[sym].written = uses[sym].on_device = True
        return
    if isinstance(stmt, Call):
        for region in stmt.dests:
            if region.buf in uses:
                uses[region.buf].written = True
                _touch(uses[region.buf], region, values, scalars)
        for argument in stmt.args:
            if isinstance(argument, Region) and argument.buf in uses:
                uses[argument.buf].read = True
                _touch(uses[argument.buf], argument, values, scalars)
    for whole in stmt_exprs(stmt):
        for expr in walk_expr(whole):
            if isinstance(expr, LoadExpr) and expr.buf in uses:
                uses[expr.buf].read = uses[expr.buf].on_host = True
    if isinstance(stmt, Store) and stmt.buf in uses:
        uses[stmt.buf].written = uses[stmt.buf].on_host = True


def _touch(use: Use, region: Region, values: Mapping[Sym, Expr], scalars: frozenset[Sym]) -> None:
    use.copied = True
    if use.extents is None or not region.extent:
        return
    start, count = (sizes.plain(sizes.expanded(e, values)) for e in (region.index[0], region.extent[0]))
    end = count if isinstance(start, Const) and start.value == 0 else binary("add", start, count)
    if sizes.over(end, scalars):
        if end not in use.extents:
            use.extents.append(end)
    else:
        use.extents = None


def _described(param: Param, use: Use) -> Param:
    space = Space.GLOBAL if use.on_device and not use.on_host and not use.copied else param.space
    if use.on_device and use.copied and not use.on_host:
        space = Space.GLOBAL
    role = param.role
    if role is Role.UNKNOWN and (use.read or use.written):
        role = Role.INOUT if use.read and use.written else Role.IN if use.read else Role.OUT
    shape = param.shape
    # a kernel or a host loop may go beyond what is copied, so only a parameter that is copied and nothing else has its extent from there
    if not shape and use.extents and not use.on_device and not use.on_host:
        total = use.extents[0]
        for other in use.extents[1:]:
            total = binary("max", convert(total, DType.I64), convert(other, DType.I64))
        shape = (total,)
    return replace(param, space=space, role=role, shape=shape)
