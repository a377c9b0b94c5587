"""``privatize``: a temporary that every iteration of a loop writes before it reads it gets a copy of its own in each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.assignment import dead_after, private_to_iterations
from synth.errors import IllegalPassError
from synth.ir.builder import int_value
from synth.ir.grammar import Alloc, Axis, For, Module, Space, Stmt, Sym
from synth.ir.traversal import (
    find_alloc,
    find_loop,
    loops,
    path_to,
    read_buffers,
    rename_buffers,
    replace_stmt,
    rewrite_stmts,
    site_names,
    walk,
    written_buffers,
)
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

MAX_ELEMENTS = 1 << 14  # of an array that becomes private: it has to fit the memory of one thread


@dataclass(frozen=True, slots=True)
class Privatize:
    """Moves a mutable scalar or an array into a loop; where other code uses it too, the loop gets one of its own.

    Before: ``alloc s[]; for i { s[] = 0; for k { s[] = s[] + A[i, k] }; C[i] = s[] }``
    After:  ``for i { alloc s[]; s[] = 0; for k { s[] = s[] + A[i, k] }; C[i] = s[] }``
    """

    name: ClassVar[str] = "privatize"
    buf: str
    loop: str

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Buffers that a serial loop writes, with the outermost loops that may have them."""
        names = site_names(module)
        found: list[Self] = []
        for buffer in (s for s in walk(module.body) if isinstance(s, Alloc)):
            taken: set[Sym] = set()
            for site, loop in loops(module).items():
                if loop.sym in taken or buffer.sym not in written_buffers(loop.body) or _why_not(module, buffer, loop):
                    continue
                found.append(cls(names[buffer.sym], site))
                taken |= {s.sym for s in walk(loop.body) if isinstance(s, For)}
        return tuple(found)

    # In every iteration each read of the buffer is preceded by a write of what it reads, in that iteration; and nothing that the loop
    # leaves in the buffer is read later. So no value passes between iterations, into the loop or out of it through the buffer.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        buffer, loop = find_alloc(module, self.buf), find_loop(module, self.loop)
        if buffer is None or loop is None:
            return Illegal(f"there is no buffer '{self.buf}' or no loop '{self.loop}'", self.buf)
        reason = _why_not(module, buffer, loop)
        return Illegal(reason, self.buf) if reason else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        buffer, loop = find_alloc(module, self.buf), find_loop(module, self.loop)
        if buffer is None or loop is None:
            raise IllegalPassError(f"privatize: there is no '{self.buf}' or no '{self.loop}'")
        own = dataclasses.replace(buffer, sym=buffer.sym.fresh(), space=Space.LOCAL)
        moved = dataclasses.replace(loop, body=(own, *rename_buffers(loop.body, {buffer.sym: own.sym})))
        body = replace_stmt(module.body, loop, moved)

        def unused(s: Stmt) -> Stmt | tuple[Stmt, ...]:
            return () if isinstance(s, Alloc) and s.sym == buffer.sym else s

        if buffer.sym not in read_buffers(body) | written_buffers(body):
            body = rewrite_stmts(body, unused)
        return dataclasses.replace(module, body=body)


def _why_not(module: Module, buffer: Alloc, loop: For) -> str:
    if buffer.init is not None or buffer.space not in (Space.LOCAL, Space.HOST):
        return f"'{buffer.sym.name}' is a table, or lies in memory that threads share"
    count = 1
    for extent in buffer.shape:
        count *= int_value(extent) or MAX_ELEMENTS + 1
    if count > MAX_ELEMENTS:
        return f"'{buffer.sym.name}' has no literal size, or more than {MAX_ELEMENTS} elements"
    if loop.axis not in (None, Axis.OMP, Axis.SIMD):
        return f"loop '{loop.sym.name}' is bound to {loop.axis.value}"
    path = path_to(module.body, loop) or ()
    if any(s is buffer for s in walk(loop.body)) or not _in_scope(module, buffer, path):
        return f"'{buffer.sym.name}' is not declared outside of the loop"
    if buffer.sym not in written_buffers(loop.body):
        return f"the loop does not write '{buffer.sym.name}'"
    if not private_to_iterations(module, buffer, loop):
        return f"an iteration of '{loop.sym.name}' may read what another one wrote to '{buffer.sym.name}'"
    if not dead_after(module, buffer, loop):
        return f"the last value of '{buffer.sym.name}' may be read after the loop"
    return ""


def _in_scope(module: Module, buffer: Alloc, path: tuple[Stmt, ...]) -> bool:
    around = path_to(module.body, buffer) or ()
    return bool(path) and all(a is b for a, b in zip(around[:-1], path[:-1], strict=False)) and len(around) <= len(path)
