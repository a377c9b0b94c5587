"""Code of a thread in which some place is reached by all threads of a block, those included that have nothing to do.

``if (c) { A; S; B }`` becomes ``live = c; if (live) A; S; if (live) B`` for the statement S on the way to that place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from synth.analysis.speculation import is_harmless
from synth.errors import UnsupportedError
from synth.ir.builder import land
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Break, Continue, Expr, For, If, Let, Load, Return, Space, Stmt, Store, Sym, Sync, Var
from synth.ir.traversal import rewrite_exprs, walk, walk_expr


@dataclass(slots=True)
class Predicated:
    """``target`` is the statement at that place, ``replace`` what it becomes, given the condition under which the thread runs it (None:
    always) and the values that only threads which run it have. ``varying`` are values that differ between the threads of a block."""

    target: For
    varying: frozenset[Sym]
    replace: Callable[[For, Expr | None, frozenset[Sym]], Body]
    values: dict[Sym, Expr] = field(default_factory=dict)

    def body(self, body: Body, live: Expr | None = None) -> Body:
        """Raises UnsupportedError where code on the way cannot be taken apart."""
        position = next(k for k, s in enumerate(body) if any(x is self.target for x in walk((s,))))
        out: list[Stmt] = []
        for s in body[:position]:
            out += self._before(s, live)
        inner = body[position]
        if inner is self.target and not self._same(self.target.lo, self.target.hi, self.target.step):
            raise UnsupportedError("threads of a block run the loop over unlike bounds", self.target.loc)
        out += (
            self._renamed(self.replace(inner, live, frozenset(self.values)))
            if inner is self.target and isinstance(inner, For)
            else self._way(inner, live)
        )
        rest = self._renamed(body[position + 1 :])
        if any(isinstance(s, Return | Sync | Break | Continue) for s in walk(body[:position] + rest)):
            raise UnsupportedError("a thread ends, waits or leaves a loop on the way to the loop")
        if rest:
            out += (If(live, rest),) if live is not None else rest
        return tuple(out)

    def _renamed(self, body: Body) -> Body:
        if not self.values:
            return body
        return rewrite_exprs(body, lambda e: self.values.get(e.sym, e) if isinstance(e, Var) else e)

    def _before(self, s: Stmt, live: Expr | None) -> Body:
        (s,) = self._renamed((s,))
        if live is None or isinstance(s, Alloc) or (isinstance(s, Let) and _for_all(s.value)):
            return (s,)
        if not isinstance(s, Let):
            return (If(live, (s,)),)
        # The value exists for threads that are live only.
        cell = s.sym.fresh()
        self.values[s.sym] = Load(cell, (), s.value.type)
        return (Alloc(cell, s.value.type, (), Space.LOCAL), If(live, (Store(cell, (), s.value),)))

    def _way(self, s: Stmt, live: Expr | None) -> Body:
        (s,) = self._renamed((s,))
        match s:
            case If(orelse=()):
                cond = s.cond if live is None else land(live, s.cond)
                name = Let(Sym("live"), cond)
                return (name, *self.body(s.then, Var(name.sym, DType.BOOL)))
            case For() if s.axis is None and self._same(s.lo, s.hi, s.step):
                return (dataclasses.replace(s, body=self.body(s.body, live)),)
            case _:
                raise UnsupportedError("the loop lies in code that not all threads of a block run alike", s.loc)

    def _same(self, *exprs: Expr) -> bool:
        """Whether all threads of a block, live or not, find the same value."""
        return is_harmless(*exprs) and not any(
            (isinstance(e, Var) and e.sym in self.varying) or isinstance(e, Load) for x in exprs for e in walk_expr(x)
        )


def _for_all(value: Expr) -> bool:
    """Whether threads that are not live can compute a value too: they may have written nothing that it loads."""
    return is_harmless(value) and not any(isinstance(e, Load) for e in walk_expr(value))
