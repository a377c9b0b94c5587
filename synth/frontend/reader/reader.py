"""The state of reading one entry: the unit, the scopes, the statements emitted so far; and nothing about particular constructs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from synth.errors import Diagnostic, UnsupportedError
from synth.frontend.reader.clang import Cursor, Unit
from synth.frontend.reader.depth import MAX_EXPRESSION_DEPTH
from synth.frontend.reader.dialect import Dialect
from synth.frontend.reader.places import ArrayValue, NoValue, PlacePointer, Pointer, RecordValue, Value
from synth.frontend.reader.scope import Scope
from synth.frontend.reader.types import CType, ctype_of
from synth.ir.grammar import Alloc, Const, Expr, Let, Load, Location, Space, Stmt, Sym, Sync, Var
from synth.ir.traversal import expr_children, walk, walk_expr, written_buffers

MAX_STATEMENTS = 40_000  # emitted by one entry: a guard against exponential inlining
MAX_INLINE_DEPTH = 64


@dataclass(slots=True)
class Loop:
    """The innermost loop or switch while its body is read. ``on_continue`` emits what must run before the next iteration (None: nothing);
    ``break_label`` is set for a ``switch``, whose ``break`` is not a loop's; ``on_break`` runs before leaving."""

    on_continue: Callable[[], None] | None = None
    break_label: int | None = None
    enclosing: Loop | None = None


@dataclass(slots=True)
class Function:
    """The function whose body is being read. ``leave`` emits what ``return`` does, given the operand; None in a kernel (a plain
    ``Return``)."""

    cursor: Cursor
    leave: Callable[[Cursor], None] | None = None
    inline_depth: int = 0


@dataclass(slots=True)
class Reader:
    """Reads the cursors of one entry into IR. ``out`` is the body being emitted; ``module_allocs`` are buffers of global tables, to
    stand at the head of the module; ``notes`` are assumptions worth telling the user."""

    unit: Unit
    dialect: Dialect
    scope: Scope = field(default_factory=Scope)
    out: list[Stmt] = field(default_factory=list)
    module_allocs: list[Stmt] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    loop: Loop | None = None
    function: Function | None = None
    inlining: list[int] = field(default_factory=list)
    labels: int = 0
    depths: dict[int, tuple[Expr, int]] = field(default_factory=dict)  # of emitted operators, by identity
    uncounted: set[tuple[int, ...]] = field(default_factory=set)  # loops found not to be canonical where they were inlined
    private: set[Sym] = field(default_factory=set)  # local buffers: no other thread writes them
    ranges: dict[Sym, tuple[int, int]] = field(default_factory=dict)  # of loop variables and launch indexes
    values: dict[Sym, Expr] = field(default_factory=dict)  # of every Let
    emitted: int = 0

    # ---------------------------------------------------------------------------------------------- places and errors

    def location(self, cursor: Cursor) -> Location:
        return self.unit.location(cursor)

    def refuse(self, what: str, cursor: Cursor, hint: str = "") -> UnsupportedError:
        """The error for a construct we do not read; to be raised by the caller."""
        return UnsupportedError(what, self.location(cursor), hint)

    def ctype(self, cursor: Cursor) -> CType:
        """The type of an expression or declaration."""
        return ctype_of(cursor.type, self.location(cursor), self.dialect.record)

    def note(self, message: str, cursor: Cursor) -> None:
        diagnostic = Diagnostic("note", message, self.location(cursor))
        if diagnostic not in self.notes:
            self.notes.append(diagnostic)

    # ------------------------------------------------------------------------------------------------------- emission

    def emit(self, *statements: Stmt) -> None:
        self.out.extend(statements)
        self.emitted += len(statements)
        self.private.update(s.sym for s in statements if isinstance(s, Alloc) and s.space is Space.LOCAL)
        if self.emitted > MAX_STATEMENTS:
            raise UnsupportedError(
                f"the program has more than {MAX_STATEMENTS} statements after inlining",
                next((s.loc for s in reversed(statements) if s.loc), None),
                "reduce unrolled or recursive expansion",
            )

    @contextlib.contextmanager
    def body(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to a new list."""
        saved, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = saved

    def label(self) -> int:
        self.labels += 1
        return self.labels

    def let(self, name: str, value: Expr, cursor: Cursor | None = None) -> Expr:
        """Binds a value to a name; literals and variables stay as they are."""
        if isinstance(value, Const | Var):
            return value
        sym = Sym(name)
        self.values[sym] = value
        self.emit(Let(sym, value, self.location(cursor) if cursor is not None else None))
        return Var(sym, value.type)

    def shallow(self, expr: Expr) -> Expr:
        """An expression of bounded depth: a deep one is bound to a name. To be asked for every operator that is made."""
        found = self.depths.get(id(expr))
        if found is not None:
            return expr
        depth = 1 + max((self.depths.get(id(c), (c, 1))[1] for c in expr_children(expr)), default=0)
        if depth > MAX_EXPRESSION_DEPTH:
            return self.let("t", expr)
        self.depths[id(expr)] = (expr, depth)  # the entry keeps the object, and so its identity, alive
        return expr

    # ------------------------------------------------------------------------------------------------ order of reading

    def in_order(self, *reads: Callable[[], Value]) -> list[Value]:
        """Reads operands from left to right. Where reading a later one emits writes to what an earlier one loads, the earlier value is
        bound first, so that the emitted order is C's."""
        values: list[Value] = []
        for read in reads:
            before = len(self.out)
            values.append(read())
            emitted = tuple(self.out[before:])
            if not emitted:
                continue
            barrier = any(isinstance(s, Sync) for s in walk(emitted))
            written = written_buffers(emitted)
            if not written and not barrier:
                continue
            pinned: list[Stmt] = []
            unstable = _reads_any_of(None if barrier else written)
            values[:-1] = [_pin(value, unstable, pinned) for value in values[:-1]]
            self.out[before:before] = pinned
        return values

    def snapshot(self, value: Value, name: str = "t") -> Value:
        """The value as of now: whatever loads from memory is bound to a name."""
        pinned: list[Stmt] = []
        result = _pin(value, _reads_any_of(None), pinned, name)
        self.emit(*pinned)
        return result


def _reads_any_of(buffers: set[Sym] | None) -> Callable[[Expr], bool]:
    """Whether an expression loads from one of ``buffers`` (None: from any)."""
    return lambda expr: bool(_loads(expr) if buffers is None else _loads(expr) & buffers)


def _loads(expr: Expr) -> set[Sym]:
    return {e.buf for e in walk_expr(expr) if isinstance(e, Load)}


def _pin(value: Value, unstable: Callable[[Expr], bool], out: list[Stmt], name: str = "t") -> Value:
    match value:
        case Pointer():
            offset = _pin(value.offset, unstable, out, name)
            assert isinstance(offset, Expr)
            return Pointer(value.buffer, offset, value.unit, value.pointee, value.const)
        case RecordValue(type_, fields):
            return RecordValue(type_, {n: _pin(v, unstable, out, n) for n, v in fields.items()})
        case ArrayValue(items):
            return ArrayValue(tuple(_pin(v, unstable, out, name) for v in items))
        case PlacePointer() | NoValue():
            return value
        case _:
            if not unstable(value):
                return value
            sym = Sym(name)
            out.append(Let(sym, value))
            return Var(sym, value.type)
