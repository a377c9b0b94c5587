"""Inlining. Every function that is called is read again at the call, with its parameters bound to the arguments.

Template functions need nothing special: clang instantiates what is called, and ``cursor.referenced`` of the call is that instantiation with
a body of full types (seen with 18.1.1, for functions that are called or whose address is taken; see ``instantiate``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from clang.cindex import CursorKind

from synth.errors import SourceError
from synth.frontend.reader import clang, declarations, escapes, expressions, facts, initialisers, lvalues, memory, statements
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Fixed, NoValue, Place, PlacePointer, Value
from synth.frontend.reader.reader import MAX_INLINE_DEPTH, MAX_STATEMENTS, Function, Reader
from synth.frontend.reader.types import CType, ReferenceType, Void, ctype_of, has_array

_CALL_COST = 8  # statements that one inlined call counts for: a guard against calls that double at every level


def bind_parameter(reader: Reader, definition: Cursor, parameter: Cursor, value: Value, where: Cursor) -> None:
    """Binds a by-value parameter: to the value as of now when the body never changes it, else to fresh storage."""
    found = facts.facts_of(reader.unit, definition)
    key = clang.declaration_key(parameter)
    type_ = reader.ctype(parameter)
    value = expressions.convert_value(reader, value, type_, where)
    name = parameter.spelling or "argument"
    modified, addressed = key in found.modified, key in found.addressed
    if not modified and not addressed and not has_array(type_):
        reader.scope.bind(parameter, Fixed(reader.snapshot(value, name), type_))
        return
    if found.straight(key) and declarations.renameable(type_):
        reader.scope.bind(parameter, declarations.introduce_renamed(reader, name, type_, value, where))
        return
    place = declarations.introduce(reader, name, type_, value, where, modified=True, addressed=addressed)
    reader.scope.bind(parameter, place)


def inline(reader: Reader, call: Cursor, definition: Cursor, arguments: Sequence[Cursor], this: Place | None = None) -> Place:
    """Reads the body of ``definition`` at ``call``; the result as a place (a ``Fixed`` value unless the function returns a reference).

    Raises UnsupportedError for recursion, variadic and virtual functions.
    """
    name = definition.spelling
    key = clang.declaration_key(definition)
    if key in reader.inlining:
        raise reader.refuse(f"recursive function '{name}'", call, "write it as a loop")
    reader.emitted += _CALL_COST
    if reader.emitted > MAX_STATEMENTS:
        raise reader.refuse(f"the program has more than {MAX_STATEMENTS // _CALL_COST} calls after inlining", call, "reduce the expansion")
    if len(reader.inlining) >= MAX_INLINE_DEPTH:
        raise reader.refuse(f"calls nested more than {MAX_INLINE_DEPTH} deep", call, "flatten the call chain")
    if definition.type.kind.name == "FUNCTIONPROTO" and definition.type.is_function_variadic():
        raise reader.refuse(f"variadic function '{name}'", call, "pass a fixed number of arguments")
    declared = clang.parameters(definition)
    bound: list[Place | None] = [None] * len(declared)

    def read(position: int) -> Callable[[], Value]:
        def one() -> Value:
            argument = argument_cursor(arguments, position, declared[position])
            if isinstance(reader.ctype(declared[position]), ReferenceType):
                bound[position] = lvalues.stable(reader, lvalues.read_place(reader, argument))
                return NoValue()
            return expressions.read_value(reader, argument)

        return one

    values = reader.in_order(*(read(i) for i in range(len(declared))))
    saved = reader.loop, reader.function
    reader.inlining.append(key)
    reader.loop = None
    try:
        with reader.scope.function(this):
            for parameter, value, place in zip(declared, values, bound, strict=True):
                if place is None:
                    bind_parameter(reader, definition, parameter, value, call)
                else:
                    _bind_reference(reader, definition, parameter, place, call)
            _initialise_members(reader, definition)
            return _body(reader, definition, call)
    finally:
        reader.inlining.pop()
        reader.loop, reader.function = saved


def argument_cursor(arguments: Sequence[Cursor], position: int, parameter: Cursor) -> Cursor:
    """The expression for a parameter: the argument, or the default value where the call leaves it out."""
    if position < len(arguments):
        argument = arguments[position]
        if argument.location.line > 0 or list(argument.get_children()):
            return argument
    given = [c for c in clang.operands(parameter) if c.kind.is_expression()]
    return given[-1] if given else arguments[position]


def _bind_reference(reader: Reader, definition: Cursor, parameter: Cursor, place: Place, where: Cursor) -> None:
    key = clang.declaration_key(parameter)
    type_ = reader.ctype(parameter)
    referent = type_.referent if isinstance(type_, ReferenceType) else type_
    if isinstance(place, Fixed) and (has_array(referent) or key in facts.facts_of(reader.unit, definition).touched()):
        copy = declarations.introduce(reader, parameter.spelling or "argument", referent, place.value, where, modified=True, addressed=True)
        place = copy
    reader.scope.bind(parameter, place)


def _initialise_members(reader: Reader, definition: Cursor) -> None:
    """The member initialiser list of a constructor: pairs of a member reference and its value."""
    if definition.kind != CursorKind.CONSTRUCTOR:
        return
    this = reader.scope.this
    assert this is not None
    member: Cursor | None = None
    for child in definition.get_children():
        if child.kind == CursorKind.MEMBER_REF:
            member = child
        elif member is not None and child.kind.is_expression():
            place = lvalues.member(reader, this, member.spelling, member)
            type_ = reader.ctype(member.referenced)
            initial = declarations.read_initial(reader, child, type_)
            if initial is not None:
                memory.store(reader, place, expressions.convert_value(reader, initial, type_, child), child)
            member = None
        elif child.kind == CursorKind.TYPE_REF and member is None:
            continue


def returns(cursor: Cursor) -> Iterator[Cursor]:
    """The return statements of a body, not those of lambdas in it."""
    for child in cursor.get_children():
        if child.kind == CursorKind.RETURN_STMT:
            yield child
        elif child.kind != CursorKind.LAMBDA_EXPR:
            yield from returns(child)


def result_type(reader: Reader, definition: Cursor) -> CType:
    if definition.kind == CursorKind.CONSTRUCTOR:
        return Void()
    return ctype_of(definition.result_type, reader.location(definition), reader.dialect.record)


def _body(reader: Reader, definition: Cursor, call: Cursor) -> Place:
    body = clang.body_of(definition)
    assert body is not None
    type_ = result_type(reader, definition)
    parts = clang.children(body)
    found = list(returns(body))
    tail = parts[-1] if parts and parts[-1].kind == CursorKind.RETURN_STMT else None
    if not found or (len(found) == 1 and tail is not None):
        reader.function = Function(definition)
        for part in parts if tail is None else parts[:-1]:
            statements.read_statement(reader, part)
        operand = next(iter(clang.operands(tail)), None) if tail is not None else None
        if operand is None:
            if not isinstance(type_, Void):
                raise reader.refuse(f"function '{definition.spelling}' returns no value", call, "add a return statement")
            return Fixed(NoValue(), type_)
        if isinstance(type_, ReferenceType):
            return lvalues.read_place(reader, operand)
        value = initialiser_or_value(reader, operand, type_)
        return Fixed(value, type_)
    return _escaping_body(reader, definition, parts, type_, call)


def initialiser_or_value(reader: Reader, operand: Cursor, type_: CType) -> Value:
    """The operand of ``return``: an expression or a braced list."""
    inner = clang.strip(operand)
    if inner.kind == CursorKind.INIT_LIST_EXPR:
        return initialisers.read_list(reader, inner, type_)
    value = expressions.read_value(reader, operand)
    if isinstance(value, PlacePointer):
        return value
    return expressions.convert_value(reader, value, type_, operand)


def _escaping_body(reader: Reader, definition: Cursor, parts: Sequence[Cursor], type_: CType, call: Cursor) -> Place:
    if isinstance(type_, ReferenceType):
        raise reader.refuse(f"function '{definition.spelling}' returns a reference from several places", call, "return a value")
    label = reader.label()
    name = re.sub(r"\W+", "_", definition.spelling).strip("_")  # of operators and conversions
    result = None if isinstance(type_, Void) else declarations.allocate(reader, name, type_, call)

    def leave(statement: Cursor) -> None:
        operand = next(iter(clang.operands(statement)), None)
        if operand is not None and result is None:
            expressions.read_effect(reader, operand)
        elif operand is not None and result is not None:
            memory.store(reader, result, initialiser_or_value(reader, operand, type_), statement)
        reader.emit(escapes.escape(label, reader.location(statement)))

    reader.function = Function(definition, leave)
    with reader.body() as emitted:
        for part in parts:
            statements.read_statement(reader, part)
    reader.emit(*escapes.eliminate(tuple(emitted), label, f"{name}.done"))
    return Fixed(NoValue(), type_) if result is None else Fixed(memory.load(reader, result, call), type_)


# --------------------------------------------------------------------------------------------------------- templates


def probe(expressions_: Sequence[str]) -> str:
    """Text to append to a source so that clang instantiates templates: ``probe(["kernel<float, 4>"])``. See ``instantiation``."""
    lines = [f"auto xpiler_probe_{i} = &{text};" for i, text in enumerate(expressions_)]
    return "\n" + "\n".join(lines) + "\n"


def instantiation(unit: clang.Unit, position: int, spelling: str) -> Cursor:
    """The function that ``probe``'s expression number ``position`` names, with its body. Raises SourceError when there is none."""
    for child in unit.root.get_children():
        if child.kind == CursorKind.VAR_DECL and child.spelling == f"xpiler_probe_{position}":
            for inner in child.walk_preorder():
                if inner.kind == CursorKind.DECL_REF_EXPR and inner.referenced is not None:
                    definition = clang.definition_of(inner.referenced)
                    if definition is not None:
                        found: Cursor = definition
                        return found
    raise SourceError(f"'{spelling}' names no function template of this file", hint="give all template arguments, e.g. kernel<float, 4>")
