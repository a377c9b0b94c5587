"""Which cells of a buffer may be read after a point of the program, before they are surely overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.ir.dtypes import Type, Vec
from synth.ir.grammar import Alloc, Body, Call, Expr, For, If, Launch, Load, Region, Stmt, Store, Sym, While
from synth.ir.traversal import bodies, stmt_exprs, walk_expr, written_buffers
from synth.passes.concrete import UNKNOWN, Cell, Machine, NotConcrete, Value, static_cost, touches

_BUDGET = 20_000
_MAX_TRIPS = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A point in a module: the enclosing bodies from the outermost to the innermost. ``after`` is the index of the first statement of
    ``body`` that follows the point; in outer bodies it follows ``owner``, the statement of ``body`` that holds the next body."""

    body: Body
    after: int
    owner: Stmt | None = None


@dataclass(slots=True)
class Liveness:
    """Live cells of one buffer; ``everything_but`` when they are not known one by one."""

    buffer: Sym
    cells: set[Cell] = field(default_factory=set)
    killed: set[Cell] = field(default_factory=set)
    everything_but: frozenset[Cell] | None = None

    def live(self, cell: Cell) -> bool:
        return cell in self.cells or (self.everything_but is not None and cell not in self.everything_but)

    def all_live(self) -> None:
        """From here on any cell that is not overwritten yet may be read."""
        if self.everything_but is None:
            self.everything_but = frozenset(self.killed)


def live_after(buffer: Sym, places: tuple[Place, ...], known: Machine, is_param: bool) -> Liveness:
    """Live cells of ``buffer`` at the innermost of ``places``. ``known`` holds what is known about scalars there."""
    found = Liveness(buffer)
    scan = _Scan(found, Machine(0, strict=False, cells=_scalars(known.cells), values=dict(known.values)))
    for level in range(len(places) - 1, -1, -1):
        place = places[level]
        scan.body(place.body[place.after :], certain=True)
        if any(isinstance(s, Alloc) and s.sym == buffer for s in place.body[: place.after]):
            return found
        owner = places[level - 1].owner if level else None
        if isinstance(owner, For | While):
            # the next iteration begins at the top of the body
            scan.forget(place.body)
            if isinstance(owner, While):
                scan.expr(owner.cond)
            scan.body(place.body, certain=False)
    if is_param:
        found.all_live()
    return found


def _scalars(cells: dict[Cell, Value]) -> dict[Cell, Value]:
    """What is known about mutable scalars: all that control and indexes depend on in practice."""
    return {cell: value for cell, value in cells.items() if not cell[1]}


@dataclass(slots=True)
class _Scan:
    found: Liveness
    machine: Machine

    def body(self, stmts: Body, certain: bool) -> None:
        for stmt in stmts:
            if (self.found.buffer, ()) in self.found.cells:
                return  # a scalar has one cell
            if not touches(stmt, frozenset({self.found.buffer})):
                self._skip(stmt)
            elif not self._exactly(stmt, certain):
                self._roughly(stmt, certain)

    def forget(self, stmts: Body) -> None:
        """Drops what is known about scalars that ``stmts`` may change."""
        for sym in written_buffers(stmts):
            if (sym, ()) in self.machine.cells:
                self.machine.cells[sym, ()] = UNKNOWN

    def _skip(self, stmt: Stmt) -> None:
        if isinstance(stmt, Store) or not bodies(stmt):
            if not self._exactly(stmt, certain=False):
                self.forget((stmt,))
        else:
            self.forget((stmt,))

    def _exactly(self, stmt: Stmt, certain: bool) -> bool:
        """Runs ``stmt`` with concrete control; False when that is not possible."""
        if static_cost(stmt) > _BUDGET:
            return False
        live, killed = set(self.found.cells), set(self.found.killed)

        def read(cell: Cell) -> None:
            if cell[0] == self.found.buffer and cell not in killed:
                live.add(cell)

        def write(cell: Cell) -> None:
            if cell[0] == self.found.buffer and certain:
                killed.add(cell)

        trial = Machine(
            _BUDGET, strict=False, cells=dict(self.machine.cells), values=dict(self.machine.values), on_read=read, on_write=write
        )
        try:
            trial.run((stmt,))
        except NotConcrete:
            return False
        self.found.cells, self.found.killed = live, killed
        self.machine.cells, self.machine.values = _scalars(trial.cells), trial.values
        return True

    def _roughly(self, stmt: Stmt, certain: bool) -> None:
        for expr in stmt_exprs(stmt):
            self.expr(expr)
        match stmt:
            case For():
                trips = self._trips(stmt)
                if trips is None:
                    self.forget(stmt.body)
                    self.machine.values.pop(stmt.sym, None)
                    self.body(stmt.body, certain=False)
                else:
                    for i in trips:
                        self.machine.values[stmt.sym] = i
                        self.body(stmt.body, certain)
            case While() | If() | Launch():
                for inner in bodies(stmt):
                    self.forget(inner)
                    self.body(inner, certain=False)
                    self.forget(inner)
            case Call():
                if any(isinstance(a, Region) and a.buf == self.found.buffer for a in stmt.args):
                    self.found.all_live()
            case _:
                self.forget((stmt,))

    def _trips(self, loop: For) -> range | None:
        if static_cost(loop) > _BUDGET:
            return None
        try:
            trips = range(self.machine.number(loop.lo), self.machine.number(loop.hi), self.machine.number(loop.step))
        except NotConcrete:
            return None
        return trips if len(trips) <= _MAX_TRIPS else None

    def expr(self, expr: Expr) -> None:
        for load in _loads(expr, self.found.buffer):
            try:
                cell = (load.buf, tuple(self.machine.number(e) for e in load.index))
            except NotConcrete:
                self.found.all_live()
                return
            self.found.cells |= set(_covered(cell, load.type)) - self.found.killed


def _covered(cell: Cell, type_: Type) -> Iterator[Cell]:
    """The cells that a load may read: a vector is as many elements in the last dimension (or one, of a buffer of vectors)."""
    yield cell
    buffer, index = cell
    if index and isinstance(type_, Vec):
        yield from ((buffer, (*index[:-1], index[-1] + lane)) for lane in range(1, type_.lanes))


def _loads(expr: Expr, buffer: Sym) -> Iterator[Load]:
    return (e for e in walk_expr(expr) if isinstance(e, Load) and e.buf == buffer)
