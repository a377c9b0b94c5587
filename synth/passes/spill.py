"""``spill``: a mutable scalar of the host becomes an array of one element, which a launch can write."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.errors import IllegalPassError
from synth.ir.builder import const
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Call, Expr, For, Launch, Load, Module, Region, Stmt, Store, Sym
from synth.ir.traversal import find_alloc, rewrite_exprs, rewrite_stmts, site_names, walk, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

ZERO = const(0, DType.I64)


@dataclass(frozen=True, slots=True)
class Spill:
    """Gives a mutable scalar an address.

    Before: ``alloc s[]; s[] = 0; for i { s[] = s[] + A[i] }``
    After:  ``alloc s[1]; s[0] = 0; for i { s[0] = s[0] + A[i] }``
    """

    name: ClassVar[str] = "spill"
    buf: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Scalars that loops of the host write, where the target has launches."""
        if spec.max_threads_per_block <= 1:
            return ()
        names = site_names(module)
        written: set[Sym] = set()
        for loop in (s for s in walk(module.body) if isinstance(s, For)):
            written |= written_buffers(loop.body)
        return tuple(cls(names[s.sym]) for s in walk(module.body) if isinstance(s, Alloc) and s.sym in written and not _why_not(module, s))

    # One element is one element. Within launches scalars are registers, which stay what they are.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        scalar = find_alloc(module, self.buf)
        if scalar is None:
            return Illegal(f"there is no mutable scalar '{self.buf}'", self.buf)
        reason = _why_not(module, scalar)
        return Illegal(reason, self.buf) if reason else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        scalar = find_alloc(module, self.buf)
        if scalar is None:
            raise IllegalPassError(f"spill: there is no '{self.buf}'")
        sym = scalar.sym

        def expr(e: Expr) -> Expr:
            return dataclasses.replace(e, index=(ZERO,)) if isinstance(e, Load) and e.buf == sym else e

        def region(r: Region) -> Region:
            return Region(r.buf, (ZERO,), (const(1, DType.I64),)) if r.buf == sym else r

        def stmt(s: Stmt) -> Stmt | Body:
            match s:
                case Store() if s.buf == sym:
                    return dataclasses.replace(s, index=(ZERO,))
                case Alloc() if s.sym == sym:
                    return dataclasses.replace(s, shape=(const(1, DType.I64),))
                case Call():
                    args = tuple(region(a) if isinstance(a, Region) else a for a in s.args)
                    return dataclasses.replace(s, dests=tuple(map(region, s.dests)), args=args)
                case _:
                    return s

        return dataclasses.replace(module, body=rewrite_stmts(rewrite_exprs(module.body, expr), stmt))


def _why_not(module: Module, scalar: Alloc) -> str:
    if scalar.shape or not isinstance(scalar.dtype, DType):
        return f"'{scalar.sym.name}' is no mutable scalar"
    if any(isinstance(s, Launch) and any(x is scalar for x in walk(s.body)) for s in walk(module.body)):
        return f"'{scalar.sym.name}' is a register of a thread"
    return ""
