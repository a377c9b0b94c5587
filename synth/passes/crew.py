"""A block of threads that together run one piece of serial code: its *crew*.

Every thread runs the code; what it computes in private scalars is the same in all. Loops that are shared out are run by all threads
together, iteration k by thread k modulo the size of the crew; their accumulations are folded over the crew afterwards. A store to an array
outside of such loops is done by one thread. Arrays that the code allocates are shared by the crew. Barriers stand where an array is touched
after another thread may have written it, or written after another may have touched it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.errors import UnsupportedError
from synth.ir.builder import add, cast, const, int_value, lt, mul
from synth.ir.dtypes import DType
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Load,
    Return,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Var,
    While,
)
from synth.ir.traversal import (
    bodies,
    read_buffers,
    rewrite_exprs,
    rewrite_stmts,
    stmt_exprs,
    walk,
    walk_expr,
    with_bodies,
    written_buffers,
)
from synth.passes.fold import Fold

U32 = DType.U32


@dataclass(frozen=True, slots=True)
class Shared:
    """A loop that is shared out: the accumulations of its iterations, and whether its variable may be stepped in its own type without
    wrapping."""

    folds: tuple[Fold, ...]
    narrow: bool


@dataclass(slots=True)
class Crew:
    """The rewriting of one piece of code. ``written`` and ``read`` are the arrays that other threads may have written or read since the
    last barrier."""

    thread: Sym
    width: int
    loops: Mapping[Sym, Shared]
    arrays: list[Alloc] = field(default_factory=list)
    private: set[Sym] = field(default_factory=set)
    written: set[Sym] = field(default_factory=set)
    read: set[Sym] = field(default_factory=set)

    @property
    def tx(self) -> Expr:
        return Var(self.thread, U32)

    def body(self, body: Body) -> Body:
        out: list[Stmt] = []
        for stmt in body:
            out += self.stmt(stmt)
        return tuple(out)

    # -------------------------------------------------------------------------------------------------------- barriers

    def _meeting(self, reads: set[Sym], writes: set[Sym]) -> Body:
        """The barrier that accesses need, if any; they are noted."""
        reads, writes = reads - self.private, writes - self.private
        needed = self.width > 1 and bool(self.written & (reads | writes) or self.read & writes)
        if needed:
            self.written, self.read = set(), set()
        self.written |= writes
        self.read |= reads
        return (Sync(Scope.BLOCK),) if needed else ()

    # ------------------------------------------------------------------------------------------------------ statements

    def stmt(self, stmt: Stmt) -> Body:
        match stmt:
            case Alloc():
                return self._alloc(stmt)
            case For() if stmt.sym in self.loops:
                return self._shared_out(stmt, self.loops[stmt.sym])
            case Store() if stmt.buf not in self.private:
                before = self._meeting(read_buffers((stmt,)), {stmt.buf})
                return (*before, stmt if self.width == 1 else If(Binary("eq", self.tx, const(0, U32)), (stmt,)))
            case Let() | Store():
                return (*self._meeting(read_buffers((stmt,)), set()), stmt)
            case If():
                return self._if(stmt)
            case For() | While():
                return self._loop(stmt)
            case Break() | Continue():
                return (stmt,)
            case Call() | Launch() | Return() | Sync():
                raise UnsupportedError(f"a block of threads cannot share code with {type(stmt).__name__.lower()}", stmt.loc)

    def _alloc(self, stmt: Alloc) -> Body:
        if not stmt.shape or stmt.init is not None:
            self.private.add(stmt.sym)
            return (dataclasses.replace(stmt, space=Space.LOCAL),)
        if self.width == 1:
            return (dataclasses.replace(stmt, space=Space.LOCAL),)
        self.arrays.append(dataclasses.replace(stmt, space=Space.SHARED))
        return ()

    def _if(self, stmt: If) -> Body:
        before = self._meeting(_loaded(stmt.cond), set())
        start = set(self.written), set(self.read)
        then = self.body(stmt.then)
        after = self.written, self.read
        self.written, self.read = start
        orelse = self.body(stmt.orelse)
        self.written, self.read = self.written | after[0], self.read | after[1]
        return (*before, dataclasses.replace(stmt, then=then, orelse=orelse))

    def _loop(self, stmt: For | While) -> Body:
        """A loop that all threads run: what it touches in one iteration meets what it touches in the next."""
        inner = set(written_buffers(stmt.body)) - _allocated(stmt.body) - self.private
        own = {s.sym for s in walk(stmt.body) if isinstance(s, Alloc) and s.shape}
        conditions = {buf for e in stmt_exprs(stmt) for buf in _loaded(e)}
        before = self._meeting(conditions, set())
        touches = bool(inner or own)
        if touches and self.width > 1 and _leaves(stmt.body):
            raise UnsupportedError("a loop that a block of threads runs together is left early", stmt.loc)
        start = set(self.written), set(self.read)
        body = self.body(stmt.body)
        if touches and self.width > 1:
            body = (*body, Sync(Scope.BLOCK))
            self.written, self.read = set(), set()
        self.written, self.read = self.written | start[0], self.read | start[1]
        if isinstance(stmt, While):
            self.read |= conditions - self.private
        return (*before, with_bodies(dataclasses.replace(stmt, axis=None) if isinstance(stmt, For) else stmt, (body,)))

    # ---------------------------------------------------------------------------------------------------- loops shared out

    def _shared_out(self, loop: For, how: Shared) -> Body:
        local = _allocated(loop.body)
        reads = (read_buffers((loop,)) - local) - {f.buf for f in how.folds}
        writes = (written_buffers(loop.body) - local) - {f.buf for f in how.folds}
        if self.width > 1 and writes & self.private:
            name = min(s.name for s in writes & self.private)
            raise UnsupportedError(f"threads would write copies of their own of '{name}'", loop.loc)
        out: list[Stmt] = [*self._meeting(reads, writes)]
        body = _in_own_memory(loop.body)
        partials: list[tuple[Fold, Sym]] = []
        for f in how.folds:
            part = f.buf.fresh(f"{f.buf.name}.part")
            out += [Alloc(part, f.dtype, (), Space.LOCAL), Store(part, (), f.identity)]
            body = _accumulating(body, f, part)
            partials.append((f, part))
        out.append(self._strided(dataclasses.replace(loop, body=body, axis=None), how.narrow))
        for f, part in partials:
            out += self._folded(f, part)
        return tuple(out)

    def _strided(self, loop: For, narrow: bool) -> For:
        """Every ``width``-th iteration, from this thread's own."""
        if self.width == 1:
            return loop
        step = int_value(loop.step) or 1
        kind = loop.dtype if narrow else DType.I64
        lo = cast(loop.lo, kind)
        offset = cast(self.tx, kind)
        offset = mul(offset, const(step, kind)) if step != 1 else offset
        first = offset if int_value(lo) == 0 else add(lo, offset)
        stride = const(step * self.width, kind)
        if narrow:
            return dataclasses.replace(loop, lo=first, step=stride)
        wide = loop.sym.fresh(f"{loop.sym.name}.wide")
        let = Let(loop.sym, cast(Var(wide, kind), loop.dtype))
        return For(wide, kind, first, cast(loop.hi, kind), stride, (let, *loop.body), None, loop.loc)

    # acc = acc op (p_0 op p_1 op ... ): the parts are folded in halves, in shared memory, with barriers between
    def _folded(self, f: Fold, part: Sym) -> Body:
        total: Expr = Load(part, (), f.dtype)
        out: list[Stmt] = []
        if self.width > 1:
            parts = self._scratch(f.dtype)
            out += self._meeting(set(), {parts})
            out.append(Store(parts, (self.tx,), total))
            half = self.width // 2
            while half:
                out.append(Sync(Scope.BLOCK))
                mine, other = (Load(parts, (i,), f.dtype) for i in (self.tx, add(self.tx, const(half, U32))))
                out.append(If(lt(self.tx, const(half, U32)), (Store(parts, (self.tx,), f.combined(mine, other)),)))
                half //= 2
            out.append(Sync(Scope.BLOCK))
            self.written, self.read = set(), {parts}
            total = Load(parts, (const(0, U32),), f.dtype)
        update = Store(f.buf, f.index, f.combined(Load(f.buf, f.index, f.dtype), total))
        if f.buf in self.private:
            return (*out, update)
        out += self._meeting({f.buf} | {buf for i in f.index for buf in _loaded(i)}, {f.buf})
        return (*out, update if self.width == 1 else If(Binary("eq", self.tx, const(0, U32)), (update,)))

    def _scratch(self, dtype: DType) -> Sym:
        """The shared array for partial results of a type."""
        for s in self.arrays:
            if s.sym.name == f"parts.{dtype}" and s.dtype is dtype:
                return s.sym
        sym = Sym(f"parts.{dtype}")
        self.arrays.append(Alloc(sym, dtype, (const(self.width, U32),), Space.SHARED))
        return sym


def _loaded(expr: Expr) -> set[Sym]:
    return {e.buf for e in walk_expr(expr) if isinstance(e, Load)}


def _allocated(body: Body) -> set[Sym]:
    return {s.sym for s in walk(body) if isinstance(s, Alloc)}


def _in_own_memory(body: Body) -> Body:
    """Code of one thread: its arrays are its own, its loops ordinary ones."""

    def one(s: Stmt) -> Stmt:
        if isinstance(s, Alloc):
            return dataclasses.replace(s, space=Space.LOCAL)
        return dataclasses.replace(s, axis=None) if isinstance(s, For) and s.axis is not None else s

    return rewrite_stmts(body, one)


def _accumulating(body: Body, f: Fold, part: Sym) -> Body:
    """The loop's body with its accumulation into the thread's own part."""

    def expr(e: Expr) -> Expr:
        return Load(part, (), f.dtype) if isinstance(e, Load) and e.buf == f.buf else e

    def stmt(s: Stmt) -> Stmt:
        return dataclasses.replace(s, buf=part, index=()) if isinstance(s, Store) and s.buf == f.buf else s

    return rewrite_stmts(rewrite_exprs(body, expr), stmt)


def _leaves(body: Body) -> bool:
    """Whether a loop with this body is left, or an iteration of it ended, early."""
    return any(isinstance(s, Break | Continue) or (isinstance(s, If) and any(_leaves(b) for b in bodies(s))) for s in body)
