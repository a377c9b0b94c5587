"""``for`` loops: canonical ones become ``For``, the others ``While``.

A loop ``for (i = lo; i REL hi; i += step) body`` is canonical when ``i`` is an integer variable that nothing else in the loop changes,
``step`` is positive, ``hi`` and ``step`` do not change while the loop runs, and the comparison, done in C's common type, means the same
in the type of ``i``. A descending loop runs over the distance from its start. Signed overflow is undefined in the source and taken to be
absent; where an unsigned variable would have to wrap for the loop to go on, that is told as a note.
"""

from __future__ import annotations

from clang.cindex import CursorKind

from synth.frontend.reader import clang, control, declarations, expressions, headers, memory, statements
from synth.frontend.reader.arithmetic import binary, convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.headers import Clauses, Header
from synth.frontend.reader.intervals import bounds, positive_unless_wrapping
from synth.frontend.reader.places import Fixed, Place
from synth.frontend.reader.reader import Loop, Reader
from synth.frontend.reader.types import usual_type
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Const, Expr, For, Let, Load, Select, Sym, Sync, Var
from synth.ir.traversal import walk, walk_expr, written_buffers


def read_for(reader: Reader, cursor: Cursor) -> None:
    parts = headers.clauses(reader, cursor)
    header = headers.canonical_header(reader, parts)
    if header is None:
        if parts.init is not None:
            _read_init(reader, parts.init)
        increments = list(headers.comma(parts.increment)) if parts.increment is not None else []
        control.while_loop(reader, parts.condition, parts.body, cursor, increments)
        return
    _read_other_inits(reader, parts.init, header)
    if header.start is not None:
        lo = convert(expressions.read_scalar(reader, header.start), header.dtype)
    else:
        place = reader.scope.find(header.variable)
        assert place is not None
        lo = memory.scalar_value(reader, memory.load(reader, place, cursor), cursor)
    key = (cursor.hash, *reader.inlining)
    if key in reader.uncounted or not _emit_for(reader, header, parts, lo, cursor):
        reader.uncounted.add(key)
        _initialise(reader, header, lo, cursor)
        assert parts.increment is not None
        control.while_loop(reader, parts.condition, parts.body, cursor, list(headers.comma(parts.increment)))


def _read_init(reader: Reader, init: Cursor) -> None:
    statements.read_statement(reader, init)


def _read_other_inits(reader: Reader, init: Cursor | None, header: Header) -> None:
    """Everything in the init clause but the loop variable's own start."""
    if init is None:
        return
    if init.kind == CursorKind.DECL_STMT:
        for part in clang.children(init):
            if part.kind == CursorKind.VAR_DECL and part != header.variable:
                declarations.declare(reader, part)
        return
    for part in headers.comma(init):
        if not clang.same(headers.assigned(part), header.variable):
            expressions.read_effect(reader, part)


def _initialise(reader: Reader, header: Header, lo: Expr, cursor: Cursor) -> None:
    if header.declared:
        place = declarations.introduce(reader, header.variable.spelling, header.dtype, lo, cursor, modified=True)
        reader.scope.bind(header.variable, place)
    elif header.start is not None:
        place = _variable_place(reader, header)
        memory.store(reader, place, lo, cursor)


def _variable_place(reader: Reader, header: Header) -> Place:
    place = reader.scope.find(header.variable)
    assert place is not None
    return place


# -------------------------------------------------------------------------------------------------------- emission


def _emit_for(reader: Reader, header: Header, parts: Clauses, lo: Expr, cursor: Cursor) -> bool:
    """Emits the loop as a ``For``; False (nothing emitted) when it is not canonical after all."""
    elsewhere = not header.declared and _used_elsewhere(reader, header.variable)
    if elsewhere and (header.descending or _breaks(parts.body)):
        return False
    with reader.body() as emitted:
        limit = expressions.read_scalar(reader, header.limit)
        step = literal(1, header.dtype) if header.step is None else convert(expressions.read_scalar(reader, header.step), header.dtype)
    if emitted or not _positive(reader, step, cursor):
        return False
    found = _limit(reader, header, lo, limit, parts.body, step, cursor)
    if found is None:
        return False
    hi, name = found, header.variable.spelling
    where = reader.location(cursor)
    with reader.body() as setup:
        if header.descending or elsewhere:
            lo, hi = reader.let(f"{name}.lo", lo), reader.let(f"{name}.hi", hi)
    sym = Sym(f"{name}.back" if header.descending else name)
    variable: Expr = Var(sym, header.dtype)
    with reader.body() as body:
        if header.descending:
            recomputed = Sym(name)
            reader.emit(Let(recomputed, binary("sub", lo, variable), where))
            variable = Var(recomputed, header.dtype)
        _remember_range(reader, header, variable, lo, hi)

        def advance() -> None:
            for part in header.rest:
                expressions.read_effect(reader, part)

        with reader.scope.rebound(header.variable, Fixed(variable, header.dtype)):
            control.loop_body(reader, parts.body, Loop(advance if header.rest else None))
            advance()
    if _changes(reader, tuple(body), (hi, step)):
        return False
    first: Expr = lo
    if header.descending:
        first, hi = literal(0, header.dtype), _distance(header, lo, hi)
    axis = reader.dialect.loop_axis(reader, cursor)
    reader.emit(*setup, For(sym, header.dtype, first, hi, step, tuple(body), axis, where))
    if elsewhere:
        _store_final(reader, header, lo, hi, step, cursor)
    return True


def _distance(header: Header, start: Expr, last: Expr) -> Expr:
    """The bound of the distance that a descending loop runs over: ``start - last``, one more for ``>=``."""
    distance = binary("sub", start, last)
    return binary("add", distance, literal(1, header.dtype)) if header.relation == ">=" else distance


def _limit(reader: Reader, header: Header, lo: Expr, limit: Expr, body: Cursor, step: Expr, cursor: Cursor) -> Expr | None:
    """The limit in the type of the variable (exclusive for ascending loops), or None where the comparison means something else there."""
    dtype = header.dtype
    if not isinstance(limit.type, DType) or limit.type.is_float:
        return None
    common = usual_type(dtype, limit.type)
    value = convert(limit, dtype)
    if isinstance(limit, Const) and not dtype.min_int <= int(limit.value) <= dtype.max_int:
        return None
    known = isinstance(limit, Const)
    if dtype.bits < 32 and not known:
        return None
    if dtype.is_signed_int and common.is_unsigned_int and limit.type.is_unsigned_int:
        low = bounds(reader, lo)
        if low is None or low[0] < 0 or header.descending:
            return None  # a negative variable would compare as a large number
        if not known and (limit.type.bits > dtype.bits or limit.type.bits == dtype.bits):
            if _breaks(body):
                return None
            reader.note(f"the bound of loop '{header.variable.spelling}' is taken to fit its variable's type", cursor)
    elif limit.type.bits > dtype.bits and not known:
        if _breaks(body):
            return None
        reader.note(f"the bound of loop '{header.variable.spelling}' is taken to fit its variable's type", cursor)
    if header.descending:
        return _descending_limit(header, lo, value)
    if header.relation == "!=":
        if not (isinstance(step, Const) and step.value == 1):
            return None
        if dtype.is_unsigned_int and not (isinstance(lo, Const) and lo.value == 0):
            return None
        return value
    if dtype.is_unsigned_int and not known and not (isinstance(step, Const) and step.value == 1 and header.relation == "<"):
        reader.note(f"loop variable '{header.variable.spelling}' is taken not to wrap around", cursor)
    if header.relation == "<=":
        if known and value == literal(dtype.max_int, dtype):
            return None
        return binary("add", value, literal(1, dtype))
    return value


def _descending_limit(header: Header, lo: Expr, value: Expr) -> Expr | None:
    """A descending loop is taken over its distance only where that cannot wrap: the limit is a literal between 0 and 2^16, or for unsigned
    variables the end is never below zero (``i > 0``)."""
    if header.dtype.is_unsigned_int:
        return value if header.relation == ">" and isinstance(value, Const) and value.value == 0 and header.step is None else None
    if isinstance(value, Const) and 0 <= int(value.value) < 1 << 16:
        return value
    return value if isinstance(lo, Const) and isinstance(value, Const) else None


def _positive(reader: Reader, step: Expr, cursor: Cursor) -> bool:
    low = bounds(reader, step)
    if low is not None and low[0] > 0:
        return True
    if not positive_unless_wrapping(reader, step):
        return False
    reader.note("the step of this loop is taken not to wrap around", cursor)
    return True


def _remember_range(reader: Reader, header: Header, variable: Expr, lo: Expr, hi: Expr) -> None:
    low, high = bounds(reader, lo), bounds(reader, hi)
    if isinstance(variable, Var) and not header.descending and low is not None:
        top = high[1] - 1 if high is not None else header.dtype.max_int
        reader.ranges[variable.sym] = (low[0], max(top, low[0]))


def _changes(reader: Reader, body: Body, header: tuple[Expr, ...]) -> bool:
    """Whether running ``body``, or other threads between its barriers, may change what the header's expressions load."""
    loaded = {e.buf for expr in header for e in walk_expr(expr) if isinstance(e, Load)}
    if loaded & written_buffers(body):
        return True
    return bool(loaded - reader.private) and any(isinstance(s, Sync) for s in walk(body))


def _breaks(body: Cursor) -> bool:
    """Whether a loop body leaves its loop early."""
    for child in body.get_children():
        if child.kind in (CursorKind.BREAK_STMT, CursorKind.RETURN_STMT, CursorKind.GOTO_STMT):
            return True
        inner_loop = child.kind in (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.SWITCH_STMT)
        if (not inner_loop and _breaks(child)) or (inner_loop and _returns(child)):
            return True
    return body.kind in (CursorKind.BREAK_STMT, CursorKind.RETURN_STMT)


def _returns(cursor: Cursor) -> bool:
    return any(node.kind == CursorKind.RETURN_STMT for node in cursor.walk_preorder())


def _used_elsewhere(reader: Reader, variable: Cursor) -> bool:
    """Whether a variable declared outside its loop is read anywhere but in ``for`` loops that start it anew."""
    if reader.function is None:
        return True
    return _reads(reader.function.cursor, variable)


def _reads(cursor: Cursor, variable: Cursor) -> bool:
    for child in cursor.get_children():
        if child.kind == CursorKind.FOR_STMT:
            parts = clang.operands(child)
            if parts and any(clang.same(headers.assigned(p), variable) for p in headers.comma(parts[0])):
                continue
        if child.kind == CursorKind.DECL_REF_EXPR and clang.same(child.referenced, variable):
            return True
        if _reads(child, variable):
            return True
    return False


def _store_final(reader: Reader, header: Header, lo: Expr, hi: Expr, step: Expr, cursor: Cursor) -> None:
    """The variable after an ascending loop that ran to its end."""
    final = hi
    if not (isinstance(step, Const) and step.value == 1):
        one = literal(1, header.dtype)
        span = binary("add", binary("sub", hi, lo), binary("sub", step, one))
        final = binary("add", lo, binary("mul", binary("div", span, step), step))
    place = _variable_place(reader, header)
    memory.store(reader, place, Select(binary("lt", lo, hi), final, lo), cursor)
