"""Unary, binary, conditional and assignment operators, with C's types and order of evaluation (C++17: the right side of an assignment
first)."""

from __future__ import annotations

from clang.cindex import CursorKind

from synth.frontend.reader import clang, expressions, lvalues, memory
from synth.frontend.reader.arithmetic import binary, convert, literal, offset_scaled, unary
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import ArrayValue, NoValue, Place, PlacePointer, Pointer, RecordValue, Value
from synth.frontend.reader.reader import Reader
from synth.frontend.reader.types import promoted, size_of, usual_type
from synth.ir.dtypes import DType, Vec, scalar, with_scalar
from synth.ir.grammar import Alloc, Const, Expr, If, Load, Select, Space, Stmt, Store, Sym

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr"}
COMPARISON = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


# ----------------------------------------------------------------------------------------------------------- unary


def read_unary(reader: Reader, cursor: Cursor) -> Value:
    operator = clang.unary_operator(cursor)
    operand = clang.operands(cursor)[0]
    if operator in ("post++", "post--"):
        place = lvalues.read_place(reader, operand)
        old = reader.snapshot(memory.load(reader, place, operand), "old")
        memory.store(reader, place, _stepped(reader, old, operator, cursor), cursor)
        return old
    if operator in ("pre++", "pre--"):
        return memory.load(reader, step(reader, cursor), cursor)
    if operator == "&":
        return memory.address(reader, lvalues.read_place(reader, operand), cursor)
    if operator == "*":
        return memory.load(reader, lvalues.read_place(reader, cursor), cursor)
    if operator not in ("+", "-", "~", "!", "extension"):
        raise reader.refuse(f"operator '{operator}' is not supported", cursor)
    value = expressions.read_value(reader, operand)
    if operator == "extension" or isinstance(value, Pointer | PlacePointer):
        if operator == "!":
            return unary("lnot", memory.scalar_value(reader, expressions.convert_value(reader, value, DType.BOOL, operand), operand))
        return value
    expr = memory.scalar_value(reader, value, operand)
    type_ = reader.ctype(cursor)
    if operator == "!":
        return unary("lnot", convert(expr, DType.BOOL))
    if isinstance(type_, DType):
        expr = convert(expr, type_)
    if operator == "+":
        return expr
    return unary("neg" if operator == "-" else "bnot", expr)


def step(reader: Reader, cursor: Cursor) -> Place:
    """``++x`` or ``x++`` for its effect; the place."""
    operand = clang.operands(cursor)[0]
    place = lvalues.read_place(reader, operand)
    memory.store(reader, place, _stepped(reader, memory.load(reader, place, operand), clang.unary_operator(cursor), cursor), cursor)
    return place


def _stepped(reader: Reader, old: Value, operator: str, cursor: Cursor) -> Value:
    delta = 1 if operator.endswith("++") else -1
    if isinstance(old, Pointer | PlacePointer):
        return memory.advance(reader, old, Const(delta, DType.I64), cursor)
    expr = memory.scalar_value(reader, old, cursor)
    dtype = scalar(expr.type)
    wide = promoted(dtype)
    one = literal(1, wide)
    return convert(binary("add" if delta > 0 else "sub", convert(expr, wide), one), dtype)


# ---------------------------------------------------------------------------------------------------------- binary


def read_binary(reader: Reader, cursor: Cursor) -> Value:
    operator = clang.binary_operator(cursor)
    if operator == "=":
        return memory.load(reader, assign(reader, cursor), cursor)
    left, right = clang.operands(cursor)
    if operator == ",":
        expressions.read_effect(reader, left)
        return expressions.read_value(reader, right)
    if operator in ("&&", "||"):
        return short_circuit(reader, cursor)
    a, b = reader.in_order(lambda: expressions.read_value(reader, left), lambda: expressions.read_value(reader, right))
    if isinstance(a, Pointer | PlacePointer) or isinstance(b, Pointer | PlacePointer):
        return _pointer_binary(reader, operator, a, b, cursor)
    x, y = memory.scalar_value(reader, a, left), memory.scalar_value(reader, b, right)
    if operator in COMPARISON:
        if isinstance(x.type, Vec):
            raise reader.refuse("comparison of vectors", cursor, "compare lanes, or use a mask intrinsic")
        common = usual_type(scalar(x.type), scalar(y.type))
        return binary(COMPARISON[operator], convert(x, common), convert(y, common))
    if operator not in ARITHMETIC:
        raise reader.refuse(f"operator '{operator}' is not supported", cursor)
    type_ = reader.ctype(cursor)
    if not isinstance(type_, DType | Vec):
        raise reader.refuse(f"operator '{operator}' on these operands", cursor)
    return binary(ARITHMETIC[operator], convert(x, type_), convert(y, type_))


def _pointer_binary(reader: Reader, operator: str, a: Value, b: Value, cursor: Cursor) -> Value:
    if operator in ("+", "-") and not isinstance(b, Pointer | PlacePointer):
        count = memory.scalar_value(reader, b, cursor)
        return memory.advance(reader, a, count if operator == "+" else unary("neg", convert(count, DType.I64)), cursor)
    if operator == "+":
        return memory.advance(reader, b, memory.scalar_value(reader, a, cursor), cursor)
    null_a, null_b = (isinstance(p, Pointer) and p.buffer is None for p in (a, b))
    if operator in ("==", "!=") and (null_a or null_b):
        if not (null_a and null_b):
            reader.note("a pointer is compared with null: buffers are taken to be there", cursor)
        return literal((null_a and null_b) == (operator == "=="), DType.BOOL)
    if not isinstance(a, Pointer) or not isinstance(b, Pointer) or a.buffer != b.buffer:
        raise reader.refuse(f"operator '{operator}' on pointers into different buffers", cursor, "compare indexes")
    unit = min(a.unit, b.unit)
    x = convert(offset_scaled(a.offset, a.unit // unit), DType.I64)
    y = convert(offset_scaled(b.offset, b.unit // unit), DType.I64)
    if operator in COMPARISON:
        return binary(COMPARISON[operator], x, y)
    size = size_of(a.pointee)
    if operator != "-" or size is None:
        raise reader.refuse(f"operator '{operator}' on pointers", cursor)
    difference = binary("sub", x, y)
    return difference if size == unit else binary("div", difference, Const(size // unit, DType.I64))


def short_circuit(reader: Reader, cursor: Cursor) -> Expr:
    """``&&`` and ``||``: the right side is evaluated only where C does."""
    left, right = clang.operands(cursor)
    op = "land" if clang.binary_operator(cursor) == "&&" else "lor"
    a = expressions.read_condition(reader, left)
    if isinstance(a, Const):
        if bool(a.value) != (op == "land"):
            return a
        return expressions.read_condition(reader, right)
    with reader.body() as emitted:
        b = expressions.read_condition(reader, right)
    if not emitted:
        return binary(op, a, b)
    result = Sym("cond")
    reader.emit(Alloc(result, DType.BOOL, (), Space.LOCAL), Store(result, (), a))
    test = Load(result, (), DType.BOOL)
    guard: Expr = test if op == "land" else unary("lnot", test)
    reader.emit(If(guard, (*emitted, Store(result, (), b)), loc=reader.location(cursor)))
    return test


# ------------------------------------------------------------------------------------------------------ assignment


def assign(reader: Reader, cursor: Cursor) -> Place:
    """``a = b``; the place."""
    left, right = clang.operands(cursor)
    return assign_to(reader, left, right, cursor)


def assign_to(reader: Reader, left: Cursor, right: Cursor, cursor: Cursor) -> Place:
    """Reads ``right``, then the place ``left``, and stores."""
    places: list[Place] = []

    def target() -> Value:
        places.append(lvalues.read_place(reader, left))
        return NoValue()

    value, _ = reader.in_order(lambda: expressions.read_value(reader, right), target)
    value = expressions.convert_value(reader, value, reader.ctype(left), right)
    memory.store(reader, places[0], value, cursor)
    return places[0]


def compound_assign(reader: Reader, cursor: Cursor) -> Place:
    """``a op= b``; the place. The operation is done in the common type, the result converted back (ISO C 6.5.16.2)."""
    operator = clang.binary_operator(cursor)[:-1]
    left, right = clang.operands(cursor)
    places: list[Place] = []

    def target() -> Value:
        places.append(lvalues.read_place(reader, left))
        return NoValue()

    value, _ = reader.in_order(lambda: expressions.read_value(reader, right), target)
    place = places[0]
    old = memory.load(reader, place, left)
    if isinstance(old, Pointer | PlacePointer):
        count = memory.scalar_value(reader, value, right)
        new = memory.advance(reader, old, count if operator == "+" else unary("neg", convert(count, DType.I64)), cursor)
        memory.store(reader, place, new, cursor)
        return place
    if operator not in ARITHMETIC:
        raise reader.refuse(f"operator '{operator}=' is not supported", cursor)
    a, b = memory.scalar_value(reader, old, left), memory.scalar_value(reader, value, right)
    if operator in ("<<", ">>"):
        common = promoted(scalar(a.type))
    else:
        common = usual_type(scalar(a.type), scalar(b.type)) if not isinstance(a.type, Vec) else a.type.dtype
    type_ = with_scalar(a.type, common)
    memory.store(reader, place, convert(binary(ARITHMETIC[operator], convert(a, type_), convert(b, type_)), a.type), cursor)
    return place


# ----------------------------------------------------------------------------------------------------- conditional


def read_conditional(reader: Reader, cursor: Cursor) -> Value:
    """``c ? a : b``: only the chosen side is evaluated."""
    test, yes, no = _three(reader, cursor)
    condition = expressions.read_condition(reader, test)
    if isinstance(condition, Const):
        return expressions.read_value(reader, yes if condition.value else no)
    type_ = reader.ctype(cursor)
    with reader.body() as then:
        a = expressions.convert_value(reader, expressions.read_value(reader, yes), type_, yes)
    with reader.body() as orelse:
        b = expressions.convert_value(reader, expressions.read_value(reader, no), type_, no)
    if not then and not orelse:
        return _select(reader, condition, a, b, cursor)
    then_out, else_out = list(then), list(orelse)
    result = _merged(reader, a, b, then_out, else_out, cursor)
    reader.emit(If(condition, tuple(then_out), tuple(else_out), loc=reader.location(cursor)))
    return result


def conditional_effect(reader: Reader, cursor: Cursor) -> None:
    """``c ? f() : g()`` as a statement."""
    test, yes, no = _three(reader, cursor)
    condition = expressions.read_condition(reader, test)
    with reader.body() as then:
        expressions.read_effect(reader, yes)
    with reader.body() as orelse:
        expressions.read_effect(reader, no)
    reader.emit(If(condition, tuple(then), tuple(orelse), loc=reader.location(cursor)))


def _three(reader: Reader, cursor: Cursor) -> tuple[Cursor, Cursor, Cursor]:
    parts = clang.operands(cursor)
    if cursor.kind != CursorKind.CONDITIONAL_OPERATOR or len(parts) != 3:
        raise reader.refuse("this conditional expression", cursor, "write all three operands")
    return parts[0], parts[1], parts[2]


def _select(reader: Reader, condition: Expr, a: Value, b: Value, cursor: Cursor) -> Value:
    if isinstance(a, RecordValue) and isinstance(b, RecordValue):
        fields = {n: _select(reader, condition, v, b.fields[n], cursor) for n, v in a.fields.items()}
        return RecordValue(a.type, fields)
    if isinstance(a, Pointer) and isinstance(b, Pointer) and a.buffer is not None and b.buffer is not None:
        if a.buffer != b.buffer or a.unit != b.unit:
            raise reader.refuse("a conditional pointer is not supported yet", cursor, "select the value that is read, not the pointer")
        offset = Select(condition, convert(a.offset, DType.I64), convert(b.offset, DType.I64))
        return Pointer(a.buffer, offset, a.unit, a.pointee, a.const)
    if isinstance(a, Pointer | PlacePointer) or isinstance(b, Pointer | PlacePointer):
        raise reader.refuse("a conditional pointer is not supported yet", cursor, "select the value that is read, not the pointer")
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        return ArrayValue(tuple(_select(reader, condition, x, y, cursor) for x, y in zip(a.items, b.items, strict=True)))
    if isinstance(a, NoValue) or isinstance(b, NoValue):
        return NoValue()
    return Select(condition, memory.scalar_value(reader, a, cursor), memory.scalar_value(reader, b, cursor))


def _merged(reader: Reader, a: Value, b: Value, then: list[Stmt], orelse: list[Stmt], cursor: Cursor) -> Value:
    if isinstance(a, RecordValue) and isinstance(b, RecordValue):
        return RecordValue(a.type, {n: _merged(reader, v, b.fields[n], then, orelse, cursor) for n, v in a.fields.items()})
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        return ArrayValue(tuple(_merged(reader, v, w, then, orelse, cursor) for v, w in zip(a.items, b.items, strict=True)))
    if isinstance(a, NoValue) and isinstance(b, NoValue):
        return a
    if isinstance(a, Pointer | PlacePointer) or isinstance(b, Pointer | PlacePointer):
        raise reader.refuse("a conditional pointer is not supported yet", cursor, "select the value that is read, not the pointer")
    x, y = memory.scalar_value(reader, a, cursor), memory.scalar_value(reader, b, cursor)
    result = Sym("select")
    reader.emit(Alloc(result, x.type, (), Space.LOCAL))
    then.append(Store(result, (), x))
    orelse.append(Store(result, (), y))
    return Load(result, (), x.type)
