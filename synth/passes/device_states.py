"""Which of two memories, the host's and the device's, holds the present contents of an array, and the copies that keep it so.

The state of an array is the set of memories that hold it: never empty. A fresh array is held by both, since it has no contents yet.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from synth.errors import UnsupportedError
from synth.ir.builder import const
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Break, Call, Continue, Expr, For, If, Launch, Load, Param, Region, Return, Stmt, Sym, While
from synth.ir.traversal import bodies, read_buffers, stmt_exprs, walk, walk_expr, written_buffers

HOST, DEVICE = "host", "device"
BOTH = frozenset({HOST, DEVICE})
State = dict[Sym, frozenset[str]]


@dataclass(frozen=True, slots=True)
class States:
    """The arrays by symbol, their device buffers and extents, and those that the host must hold whenever the entry ends."""

    arrays: dict[Sym, Alloc | Param]
    device: dict[Sym, Sym]
    extents: dict[Sym, Expr]
    keep: frozenset[Sym]

    def copy(self, sym: Sym, to: str) -> Call:
        """The copy of a whole array."""
        extent = self.extents[sym]
        host, device = (Region(s, (const(0, DType.I64),), (extent,)) for s in (sym, self.device[sym]))
        return Call("host.copy", (device if to == DEVICE else host,), (host if to == DEVICE else device,))


def with_copies(body: Body, states: States) -> Body | str:
    """The body of the entry with the copies it needs, or why it cannot have them."""
    start = {sym: frozenset({HOST}) if isinstance(a, Param) else BOTH for sym, a in states.arrays.items()}
    for sym, array in states.arrays.items():
        if isinstance(array, Alloc) and array.init is not None:
            start[sym] = frozenset({HOST})
    try:
        return _Walk(states).entry(body, start)
    except UnsupportedError as error:
        return error.message


@dataclass(slots=True)
class _Walk:
    states: States

    def entry(self, body: Body, state: State) -> Body:
        out, state = self.body(body, state)
        if out and isinstance(out[-1], Return):
            return out
        return (*out, *self.needed(sorted(self.states.keep, key=_uid), HOST, state))

    def body(self, body: Body, state: State) -> tuple[Body, State]:
        out: list[Stmt] = []
        for stmt in body:
            done, state = self.stmt(stmt, state)
            out += done
        return tuple(out), state

    def needed(self, syms: list[Sym], where: str, state: State) -> Body:
        """Copies after which a memory holds these arrays; ``state`` is brought up to date."""
        copies = [self.states.copy(sym, where) for sym in syms if where not in state[sym]]
        for sym in syms:
            state[sym] = state[sym] | {where}
        return tuple(copies)

    def stmt(self, stmt: Stmt, state: State) -> tuple[Body, State]:
        state = dict(state)
        if isinstance(stmt, Alloc) and stmt.sym in state:
            state[stmt.sym] = BOTH if stmt.init is None else frozenset({HOST})
            return (stmt,), state
        if isinstance(stmt, Return):
            return (*self.needed(sorted(self.states.keep, key=_uid), HOST, state), stmt), state
        if isinstance(stmt, Launch):
            return self.access(stmt, stmt.body, DEVICE, state)
        if (direct := self.copied_from_device(stmt, state)) is not None:
            return (direct,), state
        launches = any(isinstance(s, Launch | Return) for s in walk((stmt,)))
        if not launches or not bodies(stmt):
            return self.access(stmt, (stmt,), HOST, state)
        conditions = self.read_by(stmt_exprs(stmt))
        if isinstance(stmt, If):
            before = self.needed(conditions, HOST, state)
            return self.branches(stmt, before, state)
        if isinstance(stmt, While) and conditions:
            raise UnsupportedError(f"the condition of a loop around launches reads '{conditions[0].name}'", stmt.loc)
        if _leaves(stmt):
            raise UnsupportedError("a loop around launches is left by break or continue", stmt.loc)
        assert isinstance(stmt, For | While)
        before = self.needed(conditions, HOST, state)
        return self.loop(stmt, before, state)

    def copied_from_device(self, stmt: Stmt, state: State) -> Call | None:
        """A copy of an array that the device holds, as a copy from there."""
        match stmt:
            case Call(op="host.copy", dests=(to,), args=(Region(buf=sym) as source,)) if sym in state and HOST not in state[sym]:
                if to.buf not in state:
                    return dataclasses.replace(stmt, args=(dataclasses.replace(source, buf=self.states.device[sym]),))
        return None

    def read_by(self, exprs: tuple[Expr, ...]) -> list[Sym]:
        found = {e.buf for x in exprs for e in walk_expr(x) if isinstance(e, Load)} & self.states.arrays.keys()
        return sorted(found, key=_uid)

    def access(self, stmt: Stmt, body: Body, where: str, state: State) -> tuple[Body, State]:
        """Code that runs in one of the two memories. What it may write in part it needs whole."""
        arrays = self.states.arrays.keys()
        written = written_buffers(body) & arrays
        touched = sorted((read_buffers(body) & arrays) | written, key=_uid)
        before = self.needed(touched, where, state)
        for sym in written:
            state[sym] = frozenset({where})
        return (*before, stmt), state

    def branches(self, stmt: If, before: Body, state: State) -> tuple[Body, State]:
        ends = [self.body(b, state) for b in bodies(stmt)]
        apart = [sym for sym in state.keys() - _declared(stmt) if not frozenset.intersection(*(s[sym] for _, s in ends))]
        if apart:  # one side leaves it where it is, the other works on the device: copied before, it is there in both
            before = (*before, *self.needed(sorted(apart, key=_uid), DEVICE, state))
            ends = [self.body(b, state) for b in bodies(stmt)]
        live = [k for k, (b, _) in enumerate(ends) if not (b and isinstance(b[-1], Return))]
        after = dict(state)
        for sym in state.keys() - _declared(stmt):
            met = frozenset.intersection(*(ends[k][1][sym] for k in live)) if live else BOTH
            if not met:  # each side has it in a memory of its own: the device, which the program works in, is to have it
                for k in live:
                    b, s = ends[k]
                    ends[k] = ((*b, *self.needed([sym], DEVICE, s)), s)
                met = frozenset({DEVICE})
            after[sym] = met
        new = dataclasses.replace(stmt, then=ends[0][0], orelse=ends[1][0])
        return (*before, new), after

    def loop(self, stmt: For | While, before: Body, state: State) -> tuple[Body, State]:
        """A loop whose iterations begin and end in one state: the largest one that its body keeps."""
        entry = dict(state)
        while True:
            body, end = self.body(stmt.body, entry)
            met = entry | {sym: entry[sym] & end[sym] for sym in entry.keys() - _declared(stmt)}
            if met == entry:
                return (*before, dataclasses.replace(stmt, body=body)), entry
            empty = sorted((sym for sym, held in met.items() if not held), key=_uid)
            for sym in empty:
                (memory,) = end[sym]
                before = (*before, *self.needed([sym], memory, state))
                met[sym] = end[sym]
            entry = met


def _leaves(stmt: Stmt) -> bool:
    """Whether the loop itself, with launches in it, is left by break or continue: its state then would have more than one source."""

    def has(body: Body) -> bool:
        return any(isinstance(s, Break | Continue) or (isinstance(s, If) and any(has(b) for b in bodies(s))) for s in body)

    return any(has(b) for b in bodies(stmt))


def _declared(stmt: Stmt) -> set[Sym]:
    """Arrays that exist within a statement only."""
    return {s.sym for s in walk((stmt,)) if isinstance(s, Alloc)}


def _uid(sym: Sym) -> int:
    return sym.uid
