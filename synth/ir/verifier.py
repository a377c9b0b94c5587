"""Well-formedness of a module: symbols, scopes, exact types, ranks, the shape of launches. What holds here is relied on everywhere.

``verify`` reports everything it finds; ``check`` raises. Bounds, races and termination are not its business (``synth.analysis``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.errors import InternalError
from synth.ir.atomics import ATOMIC_OPS, PREFIX, is_atomic, operands
from synth.ir.builder import int_value
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import (
    Alloc,
    Axis,
    Body,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Location,
    Module,
    Region,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    While,
)
from synth.ir.printer import print_expr
from synth.ir.traversal import site_names
from synth.ir.type_rules import Array, Value, access_faults, expr_faults
from synth.ir.type_rules import Scope as Symbols

_LAUNCH_AXES = (Axis.BLOCK_Z, Axis.BLOCK_Y, Axis.BLOCK_X, Axis.THREAD_Z, Axis.THREAD_Y, Axis.THREAD_X)

# op -> (number of dests, kinds of the arguments: v scalar value, b scalar bool, r region)
_CALLS: dict[str, tuple[int, str]] = {
    **{PREFIX + op: (1, "r" + "v" * count) for op, count in ATOMIC_OPS.items()},
    "warp.shfl": (1, "vvvv"),
    "warp.shfl_up": (1, "vvvv"),
    "warp.shfl_down": (1, "vvvv"),
    "warp.shfl_xor": (1, "vvvv"),
    "warp.all": (1, "vb"),
    "warp.any": (1, "vb"),
    "warp.ballot": (1, "vb"),
    "warp.activemask": (1, ""),
    "warp.sync": (0, "v"),
    "host.copy": (1, "r"),
    "host.fill": (1, "v"),
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: what, where in the user's source, and at which symbol (empty when it concerns none)."""

    message: str
    location: Location | None = None
    site: str = ""

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.message}" + (f" (at '{self.site}')" if self.site else "")


def verify(module: Module) -> tuple[Violation, ...]:
    """All violations, in program order; empty for a well-formed module."""
    return tuple(_Verifier(site_names(module)).module(module))


def check(module: Module) -> None:
    """Raises InternalError naming the first violations of an ill-formed module."""
    found = verify(module)
    if found:
        more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
        raise InternalError("ill-formed module: " + "; ".join(map(str, found[:3])) + more, found[0].location)


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a statement stands. ``loop`` is what ``break`` and ``continue`` refer to: serial, parallel, or nothing."""

    launch: bool = False
    threads: bool = False
    loop: Stmt | None = None
    parallel: For | None = None
    axes: frozenset[Axis] = frozenset()


@dataclass(slots=True)
class _Verifier:
    sites: dict[Sym, str]
    bound: set[Sym] = field(default_factory=set)

    def module(self, m: Module) -> Iterator[Violation]:
        scope: Symbols = {}
        for p in m.params:
            yield from self.bind(p.sym, None)
            scope[p.sym] = Value(p.dtype) if p.shape is None else Array(p.dtype, 1, not p.const)
        values: Symbols = {s: v for s, v in scope.items() if isinstance(v, Value)}
        for p in m.params:
            if p.shape is not None and len(p.shape) > 1:
                yield self.violation("a pointer parameter is a flat buffer", None, p.sym)
            for extent in p.shape or ():
                yield from self.integer(extent, values, None, "an extent", p.sym)
        for fact in m.assumes:
            yield from self.truth(fact, values, None, "an assumption")
        if m.result is not None:
            yield from self.expr(m.result, {}, None)
        yield from self.body(m.body, scope, _Context())

    # ------------------------------------------------------------------------------------------------------- parts

    def violation(self, message: str, loc: Location | None, sym: Sym | None = None) -> Violation:
        return Violation(message, loc, "" if sym is None else self.sites.get(sym, sym.name))

    def bind(self, sym: Sym, loc: Location | None) -> Iterator[Violation]:
        if sym in self.bound:
            yield self.violation("the symbol is bound more than once", loc, sym)
        self.bound.add(sym)

    def expr(self, e: Expr, scope: Symbols, loc: Location | None, sym: Sym | None = None) -> Iterator[Violation]:
        for message in expr_faults(e, scope):
            yield self.violation(message, loc, sym)

    def integer(self, e: Expr, scope: Symbols, loc: Location | None, what: str, sym: Sym | None = None) -> Iterator[Violation]:
        faults = list(self.expr(e, scope, loc, sym))
        yield from faults
        if not faults and not (isinstance(e.type, DType) and e.type.is_int):
            yield self.violation(f"{what} is an integer, not {e.type}: {print_expr(e)}", loc, sym)

    def truth(self, e: Expr, scope: Symbols, loc: Location | None, what: str) -> Iterator[Violation]:
        faults = list(self.expr(e, scope, loc))
        yield from faults
        if not faults and e.type is not DType.BOOL:
            yield self.violation(f"{what} is a bool, not {e.type}: {print_expr(e)}", loc)

    # -------------------------------------------------------------------------------------------------- statements

    def body(self, body: Body, scope: Symbols, at: _Context) -> Iterator[Violation]:
        inner = dict(scope)
        for s in body:
            yield from self.stmt(s, inner, at)

    def stmt(self, s: Stmt, scope: Symbols, at: _Context) -> Iterator[Violation]:
        match s:
            case Let():
                yield from self.expr(s.value, scope, s.loc, s.sym)
                yield from self.bind(s.sym, s.loc)
                scope[s.sym] = Value(s.value.type)
            case Alloc():
                yield from self.alloc(s, scope, at)
            case Store():
                yield from self.store(s, scope)
            case For():
                yield from self.loop(s, scope, at)
            case While():
                yield from self.truth(s.cond, scope, s.loc, "a loop condition")
                yield from self.body(s.body, scope, _with_loop(at, s))
            case If():
                yield from self.truth(s.cond, scope, s.loc, "a condition")
                yield from self.body(s.then, scope, at)
                yield from self.body(s.orelse, scope, at)
            case Sync():
                if s.scope is not Scope.DEVICE and not at.threads:
                    yield self.violation(f"sync {s.scope.value} outside thread loops", s.loc)
                if s.scope is Scope.DEVICE and at.launch:
                    yield self.violation("sync device inside a launch", s.loc)
            case Call():
                yield from self.call(s, scope, at)
            case Launch():
                yield from self.launch(s, scope, at)
            case Break() | Continue():
                yield from self.jump(s, at)
            case _:
                if at.parallel is not None and not (at.threads and at.parallel.axis and at.parallel.axis.is_thread):
                    yield self.violation("return out of a parallel loop", s.loc, at.parallel.sym)

    def alloc(self, s: Alloc, scope: Symbols, at: _Context) -> Iterator[Violation]:
        for extent in s.shape:
            yield from self.integer(extent, scope, s.loc, "an extent", s.sym)
            if (int_value(extent) or 0) < 0:
                yield self.violation("a negative extent", s.loc, s.sym)
        if s.shape and isinstance(s.dtype, Vec):
            yield self.violation("arrays hold scalars only", s.loc, s.sym)
        if s.init is not None:
            yield from self.initial_values(s)
        if s.space is Space.SHARED and at.threads:
            yield self.violation("a shared buffer is allocated outside the thread loops", s.loc, s.sym)
        if s.space in (Space.GLOBAL, Space.HOST) and at.launch:
            yield self.violation(f"a {s.space.value} buffer is allocated outside launches", s.loc, s.sym)
        yield from self.bind(s.sym, s.loc)
        scope[s.sym] = Array(s.dtype, len(s.shape), True)

    def initial_values(self, s: Alloc) -> Iterator[Violation]:
        sizes = [int_value(extent) for extent in s.shape]
        count = 1
        for size in sizes:
            count *= size or 0
        if None in sizes or len(s.init or ()) != count:
            yield self.violation(f"{len(s.init or ())} initial values for the shape {[print_expr(e) for e in s.shape]}", s.loc, s.sym)
        for c in s.init or ():
            yield from self.expr(c, {}, s.loc, s.sym)
            if c.type != s.dtype:
                yield self.violation(f"an initial value of type {c.type} in a buffer of {s.dtype}", s.loc, s.sym)
                return

    def store(self, s: Store, scope: Symbols) -> Iterator[Violation]:
        faults = [*self.expr(s.value, scope, s.loc, s.buf)]
        if s.mask is not None:
            faults += self.expr(s.mask, scope, s.loc, s.buf)
        yield from faults
        mask = None if s.mask is None else s.mask.type
        for message in access_faults(s.buf, s.index, s.value.type, mask, scope, faulty=bool(faults)):
            yield self.violation(message, s.loc, s.buf)
        target = scope.get(s.buf)
        if isinstance(target, Array) and not target.writable:
            yield self.violation("a store to a const parameter", s.loc, s.buf)

    def loop(self, s: For, scope: Symbols, at: _Context) -> Iterator[Violation]:
        if not s.dtype.is_int:
            yield self.violation(f"a loop variable of type {s.dtype}", s.loc, s.sym)
        for e, what in ((s.lo, "the lower bound"), (s.hi, "the upper bound"), (s.step, "the step")):
            faults = list(self.expr(e, scope, s.loc, s.sym))
            yield from faults
            if not faults and e.type != s.dtype:
                yield self.violation(f"{what} has type {e.type}, the loop variable {s.dtype}", s.loc, s.sym)
        step = int_value(s.step)
        if step is not None and step <= 0:
            yield self.violation("the step is not positive", s.loc, s.sym)
        if s.axis is not None and s.axis in at.axes and (s.axis.is_block or s.axis.is_thread):
            yield self.violation(f"a loop over {s.axis.value} inside another one", s.loc, s.sym)
        if s.axis is not None and s.axis.is_block and at.threads:
            yield self.violation("a block loop inside thread loops", s.loc, s.sym)
        yield from self.bind(s.sym, s.loc)
        yield from self.body(s.body, {**scope, s.sym: Value(s.dtype)}, _with_loop(at, s))

    def jump(self, s: Break | Continue, at: _Context) -> Iterator[Violation]:
        word = "break" if isinstance(s, Break) else "continue"
        if at.loop is None:
            yield self.violation(f"{word} outside a loop", s.loc)
        elif (
            isinstance(at.loop, For)
            and at.loop.axis is not None
            and (isinstance(s, Break) or at.loop.axis.is_thread or at.loop.axis.is_block)
        ):
            yield self.violation(f"{word} out of a parallel loop", s.loc, at.loop.sym)

    def call(self, s: Call, scope: Symbols, at: _Context) -> Iterator[Violation]:
        if s.op not in _CALLS:
            yield self.violation(f"unknown operation {s.op}", s.loc)
            return
        if s.op.startswith("warp.") and not at.threads:
            yield self.violation(f"{s.op} outside thread loops", s.loc)
        dests, kinds = _CALLS[s.op]
        wrong = len(s.dests) not in (1, 2) if is_atomic(s) else len(s.dests) != dests
        if wrong or len(s.args) != len(kinds):
            yield self.violation(f"{s.op} takes {dests} destinations and {len(kinds)} arguments", s.loc)
            return
        for region in s.dests:
            yield from self.region(region, scope, s.loc)
            target = scope.get(region.buf)
            if isinstance(target, Array) and not target.writable:
                yield self.violation("a write to a const parameter", s.loc, region.buf)
        for argument, kind in zip(s.args, kinds, strict=True):
            if isinstance(argument, Region) != (kind == "r"):
                yield self.violation(f"an argument of {s.op} is {'a region' if kind == 'r' else 'a value'}", s.loc)
            elif isinstance(argument, Region):
                yield from self.region(argument, scope, s.loc)
            elif kind == "b":
                yield from self.truth(argument, scope, s.loc, f"the predicate of {s.op}")
            else:
                yield from self.expr(argument, scope, s.loc)
        yield from self.atomic(s, scope) if is_atomic(s) else self.call_types(s, scope)

    def atomic(self, s: Call, scope: Symbols) -> Iterator[Violation]:
        """The operands have one type, as wide as the element; the old value has it too; the target is read and written."""
        target, values = scope.get(s.dests[0].buf), operands(s)
        type_ = values[0].type
        if s.args[0] != s.dests[0] or any(r.extent for r in s.dests):
            yield self.violation(f"{s.op} works on a single element, which stands among its arguments", s.loc, s.dests[0].buf)
        if not isinstance(type_, DType) or any(v.type != type_ for v in values):
            yield self.violation(f"the operands of {s.op} have one scalar type", s.loc)
        elif isinstance(target, Array) and (not isinstance(target.type, DType) or target.type.bits != type_.bits):
            yield self.violation(f"{s.op} of {type_} in a buffer of {target.type}", s.loc, s.dests[0].buf)
        elif type_.is_float and s.op.removeprefix(PREFIX) not in ("add", "sub", "min", "max", "exch"):
            yield self.violation(f"{s.op} of {type_}", s.loc)
        for old in s.dests[1:]:
            kept = scope.get(old.buf)
            if isinstance(kept, Array) and (kept.rank != len(old.index) or kept.type != type_):
                yield self.violation(f"{s.op} keeps {type_} in a buffer of {kept.type}", s.loc, old.buf)

    def call_types(self, s: Call, scope: Symbols) -> Iterator[Violation]:
        """Moved values have the type of where they go."""
        if not s.dests:
            return
        target = scope.get(s.dests[0].buf)
        moved: Type | None = None
        if s.op.startswith("warp.shfl") and not isinstance(s.args[1], Region):
            moved = s.args[1].type
        elif s.op == "host.fill" and not isinstance(s.args[0], Region):
            moved = s.args[0].type
        elif s.op == "host.copy" and isinstance(s.args[0], Region):
            source = scope.get(s.args[0].buf)
            moved = source.type if isinstance(source, Array) else None
        if isinstance(target, Array) and moved is not None and moved != target.type:
            yield self.violation(f"{s.op} moves {moved} to a buffer of {target.type}", s.loc, s.dests[0].buf)

    def region(self, r: Region, scope: Symbols, loc: Location | None) -> Iterator[Violation]:
        target = scope.get(r.buf)
        if not isinstance(target, Array):
            yield self.violation("not a buffer in scope", loc, r.buf)
            return
        if len(r.index) != target.rank or len(r.extent) not in (0, target.rank):
            yield self.violation(f"a region of rank {len(r.index)} in a buffer of rank {target.rank}", loc, r.buf)
        for e in (*r.index, *r.extent):
            yield from self.integer(e, scope, loc, "an index", r.buf)

    def launch(self, s: Launch, scope: Symbols, at: _Context) -> Iterator[Violation]:
        if at.launch:
            yield self.violation("a launch inside a launch", s.loc)
        body = s.body
        for axis in _LAUNCH_AXES:
            loops = [x for x in body if isinstance(x, For)]
            others = [x for x in body if not isinstance(x, For)]
            shared = axis is Axis.THREAD_Z and all(isinstance(x, Alloc) and x.space is Space.SHARED for x in others)
            if len(loops) != 1 or (others and not shared):
                yield self.violation(f"the launch nest has no single loop where {axis.value} belongs", s.loc)
                break
            if loops[0].axis is not axis:
                yield self.violation(f"the launch nest has a loop over {loops[0].axis} where {axis.value} belongs", s.loc, loops[0].sym)
                break
            if loops[0].dtype is not DType.U32 or int_value(loops[0].lo) != 0 or int_value(loops[0].step) != 1:
                yield self.violation("launch loops count u32 from 0 by 1", s.loc, loops[0].sym)
            body = loops[0].body
        yield from self.body(s.body, scope, _Context(launch=True))


def _with_loop(at: _Context, s: For | While) -> _Context:
    if isinstance(s, While) or s.axis is None:
        return _Context(at.launch, at.threads, s, at.parallel, at.axes)
    return _Context(at.launch, at.threads or s.axis.is_thread, s, s, at.axes | {s.axis})
