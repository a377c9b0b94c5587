"""What an expression means: a function from an environment to a value.

Vectors are tuples of their lanes. A lane that was never initialised is ``None``; it may be moved and goes through lane-wise operations, as
copies of partly initialised C structs do, but to look at it is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from synth.ir import mathematics, values
from synth.ir.dtypes import DType, Type, Vec, lanes, scalar
from synth.ir.grammar import (
    Binary,
    Bitcast,
    Broadcast,
    Cast,
    Const,
    Expr,
    Lane,
    Load,
    MakeVec,
    Math,
    Reduce,
    Select,
    Unary,
    Var,
)
from synth.ir.memory import InterpreterError, Memory
from synth.ir.rounding import round_float

# Symbols' uids to values (of ``Var``) and memories (of buffers).
Env = dict[int, Any]
Meaning = Callable[[Env], Any]


def meaning(e: Expr) -> Meaning:
    """The function that computes an expression. It raises InterpreterError (memory) or UndefinedOperation (arithmetic)."""
    match e:
        case Const():
            literal = round_float(float(e.value), e.type) if e.type.is_float else e.value
            return lambda env: literal
        case Var():
            uid = e.sym.uid
            return lambda env: env[uid]
        case Load():
            return _load(e)
        case Unary():
            return _lanewise(values.unary(e.op, scalar(e.a.type)), e.type, e.a)
        case Binary(op="land" | "lor"):
            return _short_circuit(e)
        case Binary():
            operation = values.binary(e.op, scalar(e.a.type))
            if isinstance(e.a.type, Vec) and e.op in ("shl", "shr"):
                operation = values.lenient(operation, e.op, e.a.type.dtype)
            return _lanewise(operation, e.a.type, e.a, e.b)
        case Cast():
            convert = values.conversion(scalar(e.a.type), scalar(e.type))
            return _lanewise(values.lenient(convert, "cast", scalar(e.type)) if isinstance(e.type, Vec) else convert, e.type, e.a)
        case Bitcast():
            a, source, target = meaning(e.a), e.a.type, e.type
            return lambda env: values.reinterpret(a(env), source, target)
        case Select():
            return _select(e)
        case Math():
            return _lanewise(mathematics.function(e.fn, scalar(e.type)), e.type, *e.args)
        case Broadcast():
            a, count = meaning(e.a), e.lanes
            return lambda env: (a(env),) * count
        case MakeVec():
            elems = [_lane(x) if isinstance(x, Lane) else meaning(x) for x in e.elems]
            return lambda env: tuple([x(env) for x in elems])
        case Lane():
            lane = _lane(e)
            return lambda env: _seen(lane(env))
        case Reduce():
            return _reduce(e)


def _lanewise(operation: Callable[..., Any], type_: Type, *args: Expr) -> Meaning:
    functions = [meaning(a) for a in args]
    if isinstance(type_, Vec):
        return lambda env: tuple([None if None in point else operation(*point) for point in zip(*[f(env) for f in functions], strict=True)])
    if len(functions) == 1:
        a = functions[0]
        return lambda env: operation(a(env))
    if len(functions) == 2:
        a, b = functions
        return lambda env: operation(a(env), b(env))
    return lambda env: operation(*[f(env) for f in functions])


def _lane(e: Lane) -> Meaning:
    a, lane = meaning(e.a), e.i
    return lambda env: a(env)[lane]


def _seen(value: Any) -> Any:
    if value is None:
        raise InterpreterError("uninitialised", "a lane of a vector is read before it is written")
    return value


def _short_circuit(e: Binary) -> Meaning:
    a, b = meaning(e.a), meaning(e.b)
    if e.op == "land":
        return lambda env: a(env) and b(env)
    return lambda env: a(env) or b(env)


def _select(e: Select) -> Meaning:
    cond, a, b = meaning(e.cond), meaning(e.a), meaning(e.b)
    if isinstance(e.cond.type, Vec):
        return lambda env: tuple([x if _seen(c) else y for c, x, y in zip(cond(env), a(env), b(env), strict=True)])
    return lambda env: a(env) if cond(env) else b(env)


def _reduce(e: Reduce) -> Meaning:
    a, operation = meaning(e.a), values.binary(e.op, scalar(e.a.type))

    def reduce(env: Env) -> Any:
        first, *rest = map(_seen, a(env))
        for lane in rest:
            first = operation(first, lane)
        return first

    return reduce


def _load(e: Load) -> Meaning:
    uid, index = e.buf.uid, [meaning(i) for i in e.index]
    if not isinstance(e.type, Vec) or not index:

        def load(env: Env) -> Any:
            memory: Memory = env[uid]
            return memory.read(memory.position(tuple([i(env) for i in index])))

        def load_register(env: Env) -> Any:
            cell = env[uid].cells[0]
            return (None,) * count if cell is None else cell

        count = lanes(e.type)
        return load_register if isinstance(e.type, Vec) else load
    width, zero = e.type.lanes, _zero(e.type.dtype)
    if e.mask is None:

        def load_vector(env: Env) -> Any:
            memory: Memory = env[uid]
            at = memory.position(tuple([i(env) for i in index]), width)
            return tuple(memory.cells[at : at + width])

        return load_vector
    mask = meaning(e.mask)

    def load_masked(env: Env) -> Any:
        memory: Memory = env[uid]
        *outer, last = [i(env) for i in index]
        return tuple([memory.cells[memory.position((*outer, last + l))] if _seen(m) else zero for l, m in enumerate(mask(env))])

    return load_masked


def _zero(dtype: DType) -> values.Scalar:
    return 0.0 if dtype.is_float else False if dtype is DType.BOOL else 0
