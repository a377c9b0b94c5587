"""The typing rules of expressions: nothing converts implicitly, both sides of an operator have one type."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from synth.ir.dtypes import DType, Type, Vec, lanes, scalar
from synth.ir.grammar import (
    ARITH_OPS,
    BINARY_OPS,
    BIT_OPS,
    COMPARE_OPS,
    LOGICAL_OPS,
    MATH_FNS,
    REDUCE_OPS,
    UNARY_OPS,
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
    Sym,
    Unary,
    Var,
)
from synth.ir.printer import print_expr
from synth.ir.rounding import round_float
from synth.ir.traversal import walk_expr


@dataclass(frozen=True, slots=True)
class Value:
    """What a ``Let``, a loop or a scalar parameter binds."""

    type: Type


@dataclass(frozen=True, slots=True)
class Array:
    """What an ``Alloc`` or a pointer parameter binds; ``type`` is that of an element."""

    type: Type
    rank: int
    writable: bool


Symbol = Value | Array
Scope = dict[Sym, Symbol]

_BOOL_OPS = frozenset({"and", "or", "xor", "eq", "ne"})  # besides land and lor


def expr_faults(expr: Expr, scope: Scope) -> Iterator[str]:
    """One message for each broken rule, inner expressions last."""
    for e in walk_expr(expr):
        for message in _faults(e, scope):
            yield f"{message}: {print_expr(e)}"


def access_faults(
    buf: Sym, index: tuple[Expr, ...], type_: Type, mask: Type | None, scope: Scope, *, faulty: bool = False
) -> Iterator[str]:
    """The rules of ``buf[index]`` read or written as ``type_``: known buffer, matching rank and element, a mask of the same lanes.
    With ``faulty`` the value itself is ill-typed, so that its type is not worth comparing."""
    target = scope.get(buf)
    if not isinstance(target, Array):
        yield f"'{buf.name}' is no buffer in scope"
        return
    if len(index) != target.rank:
        yield f"{len(index)} indexes into '{buf.name}' of rank {target.rank}"
    for i in index:
        if not (isinstance(i.type, DType) and i.type.is_int):
            yield f"an index of type {i.type}"
    whole = type_ == target.type
    part = isinstance(type_, Vec) and target.rank > 0 and type_.dtype == target.type
    if not faulty and not whole and not part:
        yield f"access as {type_} to '{buf.name}' of {target.type}"
    if mask is not None and (not part or mask != Vec(DType.BOOL, lanes(type_))):
        yield f"a mask of type {mask} on an access of {type_}"


def _faults(e: Expr, scope: Scope) -> Iterator[str]:
    match e:
        case Const():
            yield from _literal(e)
        case Var():
            symbol = scope.get(e.sym)
            if not isinstance(symbol, Value):
                yield f"'{e.sym.name}' is no value in scope"
            elif symbol.type != e.type:
                yield f"'{e.sym.name}' has type {symbol.type}, used as {e.type}"
        case Load():
            yield from access_faults(e.buf, e.index, e.type, None if e.mask is None else e.mask.type, scope)
        case Unary():
            yield from _unary(e)
        case Binary():
            yield from _binary(e)
        case Cast() if lanes(e.a.type) != lanes(e.type) or isinstance(e.a.type, Vec) != isinstance(e.type, Vec):
            yield f"a cast from {e.a.type} to {e.type} changes the number of lanes"
        case Bitcast():
            mask = any(isinstance(t, Vec) and t.dtype is DType.BOOL for t in (e.a.type, e.type))
            if mask or e.type is DType.BOOL or _bits(e.a.type) != _bits(e.type):
                yield f"a bitcast from {e.a.type} to {e.type}"
        case Select():
            if e.a.type != e.b.type:
                yield f"the branches of select have types {e.a.type} and {e.b.type}"
            if e.cond.type is not DType.BOOL and e.cond.type != Vec(DType.BOOL, lanes(e.a.type)):
                yield f"select by {e.cond.type} of {e.a.type}"
        case Math():
            yield from _math(e)
        case Broadcast() if isinstance(e.a.type, Vec) or e.lanes < 1:
            yield f"a broadcast of {e.a.type} to {e.lanes} lanes"
        case MakeVec() if isinstance(e.elems[0].type, Vec) or any(x.type != e.elems[0].type for x in e.elems):
            yield "the lanes of a vector have different types"
        case Lane() if not isinstance(e.a.type, Vec) or not 0 <= e.i < e.a.type.lanes:
            yield f"lane {e.i} of {e.a.type}"
        case Reduce():
            dtype = scalar(e.a.type)
            bits = e.op in ("and", "or", "xor")
            if e.op not in REDUCE_OPS or not isinstance(e.a.type, Vec) or (dtype.is_float and bits) or (dtype is DType.BOOL and not bits):
                yield f"reduction by {e.op} of {e.a.type}"


def _literal(c: Const) -> Iterator[str]:
    if not isinstance(c.type, DType):
        yield f"a literal of type {c.type}"
    elif c.type is DType.BOOL:
        if not isinstance(c.value, bool):
            yield f"a bool literal with the value {c.value!r}"
    elif c.type.is_float:
        value = float(c.value)
        if not math.isnan(value) and round_float(value, c.type) != value:
            yield f"{value!r} is not rounded to {c.type}"
    elif isinstance(c.value, bool) or not isinstance(c.value, int) or not c.type.min_int <= c.value <= c.type.max_int:
        yield f"{c.value!r} is no {c.type}"


def _unary(e: Unary) -> Iterator[str]:
    dtype = scalar(e.a.type)
    fits = {"neg": dtype is not DType.BOOL, "bnot": dtype.is_int, "lnot": dtype is DType.BOOL}
    if e.op not in UNARY_OPS or not fits[e.op]:
        yield f"{e.op} of {e.a.type}"


def _binary(e: Binary) -> Iterator[str]:
    if e.op not in BINARY_OPS:
        yield f"unknown operator {e.op}"
        return
    if e.a.type != e.b.type:
        yield f"the operands of {e.op} have types {e.a.type} and {e.b.type}"
        return
    dtype = scalar(e.a.type)
    if e.op in LOGICAL_OPS:
        fits = e.a.type is DType.BOOL
    elif dtype is DType.BOOL:
        fits = e.op in _BOOL_OPS
    elif dtype.is_float:
        fits = e.op in ARITH_OPS - {"mod"} or e.op in COMPARE_OPS
    else:
        fits = e.op in ARITH_OPS | BIT_OPS | COMPARE_OPS
    if not fits:
        yield f"{e.op} of {e.a.type}"


def _math(e: Math) -> Iterator[str]:
    if MATH_FNS.get(e.fn) != len(e.args):
        yield f"math.{e.fn} with {len(e.args)} arguments"
    if any(a.type != e.type for a in e.args):
        yield f"the arguments of math.{e.fn} are not all {e.type}"
    dtype = scalar(e.type)
    if not dtype.is_float and (e.fn != "abs" or dtype is DType.BOOL):
        yield f"math.{e.fn} of {e.type}"


def _bits(type_: Type) -> int:
    return scalar(type_).bits * lanes(type_)
