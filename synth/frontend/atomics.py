"""Atomic functions of device code, read to ``atomic.*`` operations (CUDA C++ Programming Guide, "Atomic Functions"; HIP documentation,
section of the same name). The scope suffixes ``_block`` and ``_system`` and HIP's ``unsafe`` forms differ in cost, not in result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.frontend.reader import expressions, memory
from synth.frontend.reader.arithmetic import convert
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Element, Memory, Value
from synth.frontend.reader.reader import Reader
from synth.ir.atomics import ATOMIC_OPS, PREFIX, is_atomic, without_result
from synth.ir.dtypes import DType
from synth.ir.grammar import Alloc, Body, Call, Load, Region, Space, Stmt, Sym
from synth.ir.traversal import read_buffers, rewrite_stmts, walk

_NAME = re.compile(r"(?:atomic|unsafeAtomic)(Add|Sub|Min|Max|Exch|And|Or|Xor|Inc|Dec|CAS)(?:_block|_system)?")


def read_atomic(reader: Reader, name: str, call: Cursor, arguments: Sequence[Cursor]) -> Value | None:
    """The old value of the operation, or None when ``name`` is not one. Raises UnsupportedError for elements that have no atomics here."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    op = match[1].lower()
    pointer, *values = reader.in_order(*(lambda a=a: expressions.read_value(reader, a) for a in arguments))
    dtype = reader.ctype(call)
    if not isinstance(dtype, DType) or dtype.bits < 16:
        raise reader.refuse(f"'{name}' of '{call.type.spelling}'", call, "use it on 32 or 64 bit elements")
    target = _target(reader, memory.dereference(reader, pointer, call), dtype, call)
    operands = [convert(memory.scalar_value(reader, v, a), dtype) for v, a in zip(values, arguments[1:], strict=True)]
    if len(operands) != ATOMIC_OPS[op]:
        raise reader.refuse(f"'{name}' with {len(operands)} operands", call)
    old, where = Sym("old"), reader.location(call)
    reader.emit(Alloc(old, dtype, (), Space.LOCAL, loc=where), Call(PREFIX + op, (target, Region(old, ())), (target, *operands), where))
    return Load(old, (), dtype)


def _target(reader: Reader, place: object, dtype: DType, call: Cursor) -> Region:
    match place:
        case Element(buffer, index, type_) if isinstance(type_, DType) and type_.bits == dtype.bits:
            return Region(buffer.sym, index)
        case Memory(pointer):
            buffer, index = memory.cell(reader, pointer, call)
            return Region(buffer.sym, index)
        case _:
            raise reader.refuse("an atomic operation on this place", call, "use an element of an array or a shared variable")


def without_unused_results(body: Body) -> Body:
    """Atomic operations whose old value nobody reads do not keep it."""
    used = read_buffers(body)
    dropped = {d.buf for s in walk(body) if isinstance(s, Call) and is_atomic(s) for d in s.dests[1:] if d.buf not in used}

    def one(stmt: Stmt) -> Stmt | Body:
        if isinstance(stmt, Alloc) and stmt.sym in dropped:
            return ()
        if isinstance(stmt, Call) and is_atomic(stmt) and len(stmt.dests) > 1 and stmt.dests[1].buf in dropped:
            return without_result(stmt)
        return stmt

    return rewrite_stmts(body, one) if dropped else body
