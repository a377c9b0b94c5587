"""Atomic operations: one indivisible read-modify-write of one element (CUDA C++ Programming Guide, "Atomic Functions").

``Call("atomic.<op>", dests=(target, [old]), args=(target, *operands))``: ``target`` is a single element and stands among the arguments too,
since it is read; ``old``, a rank-0 buffer, receives what it held. The operands' type is that of the operation: of the target's element, or
another of the same width, as which the element is then seen bit by bit (``atomicCAS`` on the bits of a float). Operations of different
threads follow one another in an order that is not specified.
"""

from __future__ import annotations

from dataclasses import replace

from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Binary, Bitcast, Call, Const, Expr, If, Let, Load, Region, Select, Stmt, Store, Sym, Var
from synth.ir.traversal import walk_expr

# name -> number of operands beside the target
ATOMIC_OPS = dict.fromkeys(("add", "sub", "min", "max", "exch", "and", "or", "xor", "inc", "dec"), 1) | {"cas": 2}
PREFIX = "atomic."


def is_atomic(stmt: Stmt) -> bool:
    return isinstance(stmt, Call) and stmt.op.startswith(PREFIX)


def operands(call: Call) -> tuple[Expr, ...]:
    """The operands beside the target: the value, or what is compared and the value."""
    return tuple(a for a in call.args if not isinstance(a, Region))


def updated(op: str, old: Expr, values: tuple[Expr, ...]) -> Expr:
    """What the element holds afterwards; all of one type. ``op`` is one of ATOMIC_OPS."""
    value = values[-1]
    match op:
        case "exch":
            return value
        case "cas":
            return Select(Binary("eq", old, values[0]), value, old)
        case "inc":
            return Select(Binary("ge", old, value), _literal(0, old), Binary("add", old, _literal(1, old)))
        case "dec":
            outside = Binary("lor", Binary("eq", old, _literal(0, old)), Binary("gt", old, value))
            return Select(outside, value, Binary("sub", old, _literal(1, old)))
        case _:
            return Binary(op, old, value)


def _literal(value: int, like: Expr) -> Const:
    return Const(value, scalar(like.type))


# The statements run one after the other in one thread, and nothing runs between them where threads run one at a time: then they are one
# indivisible update.
def alone(call: Call, element: DType) -> tuple[Stmt, ...]:
    """An atomic operation on an element of type ``element`` as plain statements, for code in which no other thread runs meanwhile."""
    target, *old = call.dests
    op, values = call.op.removeprefix(PREFIX), operands(call)
    type_ = scalar(values[0].type)
    held: Expr = Load(target.buf, target.index, element)
    seen = held if type_ is element else Bitcast(held, type_)
    before: tuple[Stmt, ...] = ()
    if old:
        if any(isinstance(e, Load) and e.buf == old[0].buf for v in values for e in walk_expr(v)):
            lets = tuple(Let(Sym("operand"), v, call.loc) for v in values)
            before, values = lets, tuple(Var(let.sym, type_) for let in lets)
        before = (*before, Store(old[0].buf, old[0].index, seen, loc=call.loc))
        seen = Load(old[0].buf, old[0].index, type_)
    if op == "cas":
        return (*before, If(Binary("eq", seen, values[0]), (_store(target, values[1], element, call),), loc=call.loc))
    return (*before, _store(target, updated(op, seen, values), element, call))


def _store(target: Region, value: Expr, element: DType, call: Call) -> Store:
    return Store(target.buf, target.index, value if value.type == element else Bitcast(value, element), loc=call.loc)


def without_result(call: Call) -> Call:
    """The same operation, its old value dropped."""
    return replace(call, dests=call.dests[:1])
