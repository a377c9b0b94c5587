"""``device_buffers``: arrays that launches use get memory on the device, with the copies that this needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.analysis.linear import env_at, module_env
from synth.errors import IllegalPassError
from synth.ir.builder import cast, const
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Binary, Body, Expr, Launch, Module, Param, Space, Stmt, Sym
from synth.ir.traversal import read_buffers, rename_buffers, rewrite_stmts, walk, written_buffers
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.device_flat import flattened
from synth.passes.device_states import States, with_copies
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class DeviceBuffers:
    """Gives every array of the host that launches touch a buffer in device memory.

    Before: ``launch { y[i] = f(x[i]) }; launch { z[i] = y[i] + z[i] }``
    After::

        alloc d_x[n] global; host.copy(d_x, x); alloc d_y[n] global; alloc d_z[n] global; host.copy(d_z, z)
        launch { d_y[i] = f(d_x[i]) }; launch { d_z[i] = d_y[i] + d_z[i] }
        host.copy(y, d_y); host.copy(z, d_z)

    Launches share the buffers; code of the host between them that touches an array makes copies.
    """

    name: ClassVar[str] = "device_buffers"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Itself where a launch touches memory of the host."""
        return (cls(),) if _arrays(module) else ()

    # For each array there are two memories, the host's and the device's. Along every path we know which of them hold what the one array
    # of the program holds: code of the host touches it only where the host's does, launches only where the device's does, a write makes
    # the other one stale, a copy of the whole array makes both hold it; at every end of the entry the host's memory of parameters does. A
    # buffer of the device is as long as the array, and exists while the array does. What is not written before it is read is indeterminate
    # in both.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        found = _plan(module)
        return Illegal(found) if isinstance(found, str) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        found = _plan(module)
        if isinstance(found, str):
            raise IllegalPassError(f"device_buffers: {found}")
        return found


def _arrays(module: Module) -> dict[Sym, Alloc | Param]:
    """Arrays of the host that launches touch."""
    touched: set[Sym] = set()
    inside: set[Sym] = set()
    for launch in (s for s in walk(module.body) if isinstance(s, Launch)):
        touched |= read_buffers(launch.body) | written_buffers(launch.body)
        inside |= {s.sym for s in walk(launch.body) if isinstance(s, Alloc)}
    found: dict[Sym, Alloc | Param] = {p.sym: p for p in module.params if p.is_buffer and p.space is Space.HOST and p.sym in touched}
    for s in walk(module.body):
        if isinstance(s, Alloc) and s.sym in touched - inside and s.space in (Space.HOST, Space.LOCAL):
            found[s.sym] = s
    return dict(sorted(found.items(), key=lambda item: item[0].uid))


def touched_by_host(body: Body) -> set[Sym]:
    """Buffers that code outside of launches reads or writes."""

    def without(s: Stmt) -> Stmt | Body:
        return () if isinstance(s, Launch) else s

    rest = rewrite_stmts(body, without)
    return read_buffers(rest) | written_buffers(rest)


def _plan(module: Module) -> Module | str:
    arrays = _arrays(module)
    if not arrays:
        return "no launch touches memory of the host"
    for array in arrays.values():
        reason = _objection(array)
        if reason:
            return reason
    module = flattened(module, {s for s, a in arrays.items() if isinstance(a, Alloc) and len(a.shape) > 1})
    arrays = _arrays(module)
    device = {sym: sym.fresh(f"d_{sym.name}") for sym in arrays}
    params = {p.sym for p in module.params}
    written = written_buffers(module.body)
    extents = {sym: _extent(module, a) for sym, a in arrays.items()}
    states = States(arrays, device, extents, keep=frozenset(params & written & arrays.keys()))
    body = with_copies(module.body, states)
    if isinstance(body, str):
        return body

    on_host = touched_by_host(body)

    def redirected(s: Stmt) -> Stmt | Body:
        if isinstance(s, Launch):
            return dataclasses.replace(s, body=rename_buffers(s.body, device))
        if isinstance(s, Alloc) and s.sym in device:
            kept = (s,) if s.sym in on_host else ()
            return (*kept, Alloc(device[s.sym], s.dtype, (extents[s.sym],), Space.GLOBAL))
        return s

    own = tuple(Alloc(device[p.sym], p.dtype, (extents[p.sym],), Space.GLOBAL) for p in module.params if p.sym in device)
    return dataclasses.replace(module, body=(*own, *rewrite_stmts(body, redirected)))


def _objection(array: Alloc | Param) -> str:
    name = array.sym.name
    if not isinstance(array.dtype, DType):
        return f"'{name}' is a vector register of the host"
    if array.shape is None or array.shape == ():
        if isinstance(array, Param):
            return f"the extent of '{name}' is not known; give it with --extent {name}=EXPR"
        return f"a launch touches the mutable scalar '{name}' of the host"
    return ""


def _extent(module: Module, array: Alloc | Param) -> Expr:
    """The number of elements; where the program's sizes may make it negative, there are none."""
    extent = cast((array.shape or ())[0], DType.I64)
    env = module_env(module) if isinstance(array, Param) else env_at(module, array)
    return extent if env.never_negative(env.normal(extent)) else Binary("max", extent, const(0, DType.I64))
