"""Expressions to values. Clang has typed everything already: an unexposed node whose type differs from its child's is an implicit
conversion."""

from __future__ import annotations

from collections.abc import Callable

from clang.cindex import CursorKind

from synth.errors import SourceError
from synth.frontend.reader import calls, clang, initialisers, lvalues, memory, operators, swizzle
from synth.frontend.reader.arithmetic import bitcast, convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import ZERO, NoValue, PlacePointer, Pointer, RecordValue, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import ArrayType, CType, PointerType, RecordType, Void, describe, size_of
from synth.ir.dtypes import DType, Vec, lanes, scalar
from synth.ir.grammar import Const, Expr

_LVALUES = frozenset({CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR})

_LITERALS = frozenset(
    {CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CHARACTER_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR}
)

_CASTS = frozenset(
    {
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
    }
)

# Named refusals: what the construct is called, and what to write instead.
_REFUSED: dict[CursorKind, tuple[str, str]] = {
    CursorKind.LAMBDA_EXPR: ("a lambda", "write a device function"),
    CursorKind.CXX_NEW_EXPR: ("operator new", "use a fixed-size array"),
    CursorKind.CXX_DELETE_EXPR: ("operator delete", "use a fixed-size array"),
    CursorKind.CXX_THROW_EXPR: ("throw", "return a status"),
    CursorKind.CXX_DYNAMIC_CAST_EXPR: ("dynamic_cast", "use plain functions"),
    CursorKind.CXX_TYPEID_EXPR: ("typeid", "use templates"),
    CursorKind.STRING_LITERAL: ("a string", "remove it"),
    CursorKind.StmtExpr: ("a statement expression", "write the statements before the expression"),
    CursorKind.ADDR_LABEL_EXPR: ("the address of a label", "use a switch"),
    CursorKind.COMPOUND_LITERAL_EXPR: ("a compound literal", "declare a variable"),
}


def read_value(reader: Reader, cursor: Cursor) -> Value:
    """The value of an expression; emits its side effects. Raises UnsupportedError for what has no meaning in the IR."""
    kind = cursor.kind
    if kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        return _unexposed(reader, cursor)
    if kind in _LITERALS:
        return constant(reader, cursor)
    if kind in _LVALUES:
        return memory.load(reader, lvalues.read_place(reader, cursor), cursor)
    if kind in _CASTS:
        return _cast(reader, cursor)
    handler = _HANDLERS.get(kind)
    if handler is not None:
        value = handler(reader, cursor)
        return reader.shallow(value) if isinstance(value, Expr) else value
    special = reader.dialect.expression(reader, cursor)
    if special is not None:
        return special
    what, hint = _REFUSED.get(kind, (f"this expression ({kind.name.lower().replace('_', ' ')})", "rewrite it in plain C++"))
    raise reader.refuse(f"{what} is not supported", cursor, hint)


def read_scalar(reader: Reader, cursor: Cursor) -> Expr:
    """The value of an expression that must be a scalar or a vector."""
    return memory.scalar_value(reader, read_value(reader, cursor), cursor)


def read_condition(reader: Reader, cursor: Cursor) -> Expr:
    """A condition, as bool."""
    value = convert_value(reader, read_value(reader, cursor), DType.BOOL, cursor)
    return memory.scalar_value(reader, value, cursor)


def read_effect(reader: Reader, cursor: Cursor) -> None:
    """An expression statement: side effects only."""
    inner = clang.strip(cursor)
    if inner.kind == CursorKind.UNARY_OPERATOR and clang.unary_operator(inner)[-2:] in ("++", "--"):
        operators.step(reader, inner)
    elif inner.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(inner) == ",":
        for side in clang.operands(inner):
            read_effect(reader, side)
    elif inner.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(inner) in ("&&", "||"):
        operators.short_circuit(reader, inner)
    elif inner.kind == CursorKind.BINARY_OPERATOR and clang.binary_operator(inner) == "=":
        operators.assign(reader, inner)
    elif inner.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        operators.compound_assign(reader, inner)
    elif inner.kind in (CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR) and isinstance(reader.ctype(inner), Void):
        for operand in clang.operands(inner):
            read_effect(reader, operand)
    elif inner.kind == CursorKind.CONDITIONAL_OPERATOR and isinstance(reader.ctype(inner), Void):
        operators.conditional_effect(reader, inner)
    elif inner.kind == CursorKind.STRING_LITERAL:
        return
    else:
        read_value(reader, inner)


def constant(reader: Reader, cursor: Cursor) -> Const:
    """A constant expression by clang's own evaluation. Raises SourceError when it is none."""
    value = clang.evaluate(cursor)
    type_ = reader.ctype(cursor)
    if value is None or not isinstance(type_, DType):
        raise SourceError("a constant expression was expected", reader.location(cursor))
    return literal(value, type_)


def _unexposed(reader: Reader, cursor: Cursor) -> Value:
    if swizzle.base_of(cursor) is not None:
        return memory.load(reader, lvalues.read_place(reader, cursor), cursor)
    inner = clang.operands(cursor)
    if len(inner) == 1:
        return convert_value(reader, read_value(reader, inner[0]), reader.ctype(cursor), cursor)
    if not inner:
        type_ = reader.ctype(cursor)
        value = clang.evaluate(cursor) if isinstance(type_, DType) else None
        if value is not None and isinstance(type_, DType):
            return literal(value, type_)
        if isinstance(type_, PointerType):
            return Pointer(None, ZERO, 1, type_.pointee)
    raise reader.refuse("this expression is not supported", cursor, "rewrite it in plain C++")


def _cast(reader: Reader, cursor: Cursor) -> Value:
    inner = clang.operands(cursor)
    type_ = reader.ctype(cursor)
    if not inner:  # float()
        return initialisers.zero(reader, type_, cursor)
    operand = inner[-1]
    if cursor.kind == CursorKind.CXX_FUNCTIONAL_CAST_EXPR and operand.kind == CursorKind.INIT_LIST_EXPR:
        return initialisers.read_list(reader, operand, type_)
    if clang.casts_lvalue(cursor):
        return memory.load(reader, lvalues.read_place(reader, cursor), cursor)
    return convert_value(reader, read_value(reader, operand), type_, cursor, explicit=True)


def convert_value(reader: Reader, value: Value, type_: CType, cursor: Cursor, *, explicit: bool = False) -> Value:
    """C's conversion of a value to ``type_``. Pointers keep their address and change their view."""
    match type_:
        case Void():
            return NoValue()
        case DType():
            if isinstance(value, Pointer | PlacePointer):
                if type_ is DType.BOOL:
                    return literal(not (isinstance(value, Pointer) and value.buffer is None), type_)
                raise reader.refuse("a pointer converted to a number", cursor, "use an index")
            return convert(memory.scalar_value(reader, value, cursor), type_)
        case Vec():
            expr = memory.scalar_value(reader, value, cursor)
            if isinstance(expr.type, Vec) and expr.type != type_:
                if explicit and lanes(expr.type) * scalar(expr.type).bits == type_.lanes * type_.dtype.bits:
                    return bitcast(expr, type_)
                raise reader.refuse(f"conversion of {expr.type} to {type_}", cursor)
            return convert(expr, type_)
        case PointerType(pointee, const):
            return _to_pointer(reader, value, pointee, const, cursor)
        case RecordType():
            if isinstance(value, RecordValue):
                return value
            raise reader.refuse(f"conversion to '{type_.name}'", cursor)
        case ArrayType():
            return value
        case _:
            raise reader.refuse(f"a value of type '{describe(type_)}' is not supported", cursor)


def _to_pointer(reader: Reader, value: Value, pointee: CType, const: bool, cursor: Cursor) -> Value:
    if isinstance(value, Const) and not value.value:
        return Pointer(None, ZERO, 1, pointee, const)
    if isinstance(value, PlacePointer):
        return value
    if not isinstance(value, Pointer):
        raise reader.refuse("a number converted to a pointer", cursor, "use an index into a buffer")
    if value.pointee == pointee:
        return value
    if isinstance(pointee, Void) or size_of(pointee) is None or value.buffer is None:
        return Pointer(value.buffer, value.offset, value.unit, pointee, const)
    return memory.view(value, pointee, const)


def _sizeof(reader: Reader, cursor: Cursor) -> Value:
    return constant(reader, cursor)


def _this(reader: Reader, cursor: Cursor) -> Value:
    if reader.scope.this is None:
        raise reader.refuse("'this' outside a member function", cursor)
    return memory.address(reader, reader.scope.this, cursor)


def _null(reader: Reader, cursor: Cursor) -> Value:
    return Pointer(None, ZERO, 1, Void())


def _list(reader: Reader, cursor: Cursor) -> Value:
    return initialisers.read_list(reader, cursor, reader.ctype(cursor))


_HANDLERS: dict[CursorKind, Callable[[Reader, Cursor], Value]] = {
    CursorKind.UNARY_OPERATOR: lambda r, c: operators.read_unary(r, c),
    CursorKind.BINARY_OPERATOR: lambda r, c: operators.read_binary(r, c),
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: lambda r, c: memory.load(r, operators.compound_assign(r, c), c),
    CursorKind.CONDITIONAL_OPERATOR: lambda r, c: operators.read_conditional(r, c),
    CursorKind.CALL_EXPR: lambda r, c: calls.read_call(r, c),
    CursorKind.CXX_UNARY_EXPR: _sizeof,
    CursorKind.CXX_THIS_EXPR: _this,
    CursorKind.CXX_NULL_PTR_LITERAL_EXPR: _null,
    CursorKind.GNU_NULL_EXPR: _null,
    CursorKind.INIT_LIST_EXPR: _list,
}
