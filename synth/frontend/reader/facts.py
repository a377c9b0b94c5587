"""What a function's body does to its variables, found by one walk before it is read.

A local that is never modified becomes a ``Let``; one whose address is taken becomes memory; an array used other than by full subscripts
becomes a flat buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clang.cindex import CursorKind, TypeKind

from synth.frontend.reader.clang import (
    Cursor,
    Unit,
    binary_operator,
    body_of,
    callee_of,
    casts_lvalue,
    children,
    declaration_key,
    definition_of,
    operands,
    parameters,
    strip,
    unary_operator,
)

_ARRAY_KINDS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
_CAST_KINDS = (
    CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
)


@dataclass(slots=True)
class Facts:
    """Declarations by key. ``modified``: assigned after the declaration, or bound to a non-const reference. ``nested``: changed
    other than by plain statements of the block that declares it. ``addressed``: ``&x``. ``flat``: an array that decays, or a row of it."""

    modified: set[int] = field(default_factory=set)
    nested: set[int] = field(default_factory=set)
    addressed: set[int] = field(default_factory=set)
    flat: set[int] = field(default_factory=set)

    def straight(self, key: int) -> bool:
        """Whether all changes of a variable follow its declaration in straight line: each then gives it a new immutable value."""
        return key in self.modified and key not in self.nested and key not in self.addressed

    def touched(self) -> set[int]:
        """Everything whose value may change."""
        return self.modified | self.addressed


def facts_of(unit: Unit, cursor: Cursor) -> Facts:
    """The facts of a function or statement (computed once)."""
    key = ("facts", cursor.hash, cursor.extent.start.offset, cursor.extent.end.offset)
    found = unit.memo.get(key)
    if found is None:
        found = unit.memo[key] = Facts()
        walk = _Walk(unit, found)
        body = body_of(cursor)
        if body is not None:
            walk.homes.update((declaration_key(p), int(body.hash)) for p in parameters(cursor))
        walk.visit(cursor)
    assert isinstance(found, Facts)
    return found


def is_array(type_: object) -> bool:
    return type_.get_canonical().kind in _ARRAY_KINDS  # type: ignore[attr-defined]


def array_rank(type_: object) -> int:
    rank, current = 0, type_.get_canonical()  # type: ignore[attr-defined]
    while current.kind in _ARRAY_KINDS:
        rank, current = rank + 1, current.element_type.get_canonical()
    return rank


THIS = 0  # stands for the object of a member function among the keys


def root_keys(cursor: Cursor) -> set[int]:
    """Keys of the variables that an lvalue is a part of (``THIS`` for a member of the current object)."""
    return {THIS if d is None else declaration_key(d) for d in roots(cursor)}


def roots(cursor: Cursor) -> Iterator[Cursor | None]:
    """The declarations of the variables that an lvalue is a part of, None for the current object; none when it lies behind a pointer."""
    cursor = strip(cursor)
    kind = cursor.kind
    if kind == CursorKind.DECL_REF_EXPR:
        if cursor.referenced is not None:
            yield cursor.referenced
    elif kind == CursorKind.MEMBER_REF_EXPR:
        inner = operands(cursor)
        if not inner or strip(inner[0]).kind == CursorKind.CXX_THIS_EXPR:
            yield None
        elif inner[0].type.get_canonical().kind != TypeKind.POINTER:
            yield from roots(inner[0])
    elif kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        base = strip(operands(cursor)[0])
        if base.type.get_canonical().kind != TypeKind.POINTER:
            yield from roots(base)
    elif kind == CursorKind.CONDITIONAL_OPERATOR:
        for side in operands(cursor)[1:]:
            yield from roots(side)
    elif kind in _CAST_KINDS or kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        inner = operands(cursor)
        if inner:
            yield from roots(inner[0])
    elif kind == CursorKind.BINARY_OPERATOR:
        sides = operands(cursor)
        yield from roots(sides[0] if binary_operator(cursor) == "=" else sides[-1])
    elif kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) in ("pre++", "pre--"):
        yield from roots(operands(cursor)[0])


def changes_object(unit: Unit, callee: Cursor) -> bool:
    """Whether a member function may change its object, or returns a reference into it."""
    if callee.is_const_method() or callee.is_static_method():
        return False
    definition = definition_of(callee)
    if definition is None or THIS in facts_of(unit, definition).touched():
        return True
    if definition.result_type.get_canonical().kind != TypeKind.LVALUEREFERENCE:
        return False
    found = [n for n in definition.walk_preorder() if n.kind == CursorKind.RETURN_STMT]
    return any(THIS in root_keys(o) or strip(o).kind == CursorKind.UNARY_OPERATOR for n in found for o in operands(n))


def _plain_target(statement: Cursor) -> Cursor | None:
    """The variable that a statement ``x = e``, ``x op= e``, ``x++`` or ``v.x = e`` changes unconditionally."""
    if statement.kind == CursorKind.UNARY_OPERATOR:
        plain = unary_operator(statement)[-2:] in ("++", "--")
    else:
        plain = statement.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR or (
            statement.kind == CursorKind.BINARY_OPERATOR and binary_operator(statement) == "="
        )
    target = strip(operands(statement)[0]) if plain else None
    if target is not None and target.kind == CursorKind.MEMBER_REF_EXPR:
        inner = operands(target)
        target = strip(inner[0]) if inner and inner[0].type.get_canonical().kind == TypeKind.RECORD else None
    if target is None or target.kind != CursorKind.DECL_REF_EXPR or target.referenced is None:
        return None
    found: Cursor = target.referenced
    return found if found.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL) else None


@dataclass(slots=True)
class _Walk:
    unit: Unit
    facts: Facts
    homes: dict[int, int] = field(default_factory=dict)  # declaration -> the block that declares it

    def visit(self, cursor: Cursor) -> None:
        kind = cursor.kind
        if kind == CursorKind.COMPOUND_STMT:
            self.block(cursor)
            return
        if kind == CursorKind.SWITCH_STMT:  # its sections are not a straight line
            for child in cursor.get_children():
                for part in (child,) if child.kind != CursorKind.COMPOUND_STMT else children(child):
                    self.visit(part)
            return
        if kind == CursorKind.CXX_UNARY_EXPR:  # sizeof does not evaluate its operand
            return
        if kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            self.subscript(cursor)
            return
        if kind == CursorKind.DECL_REF_EXPR:
            self.reference(cursor)
        elif kind == CursorKind.CALL_EXPR:
            self.call(cursor)
            return
        elif kind == CursorKind.BINARY_OPERATOR:
            if binary_operator(cursor) == "=":
                self.modify(operands(cursor)[0])
        elif kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
            self.modify(operands(cursor)[0])
        elif kind == CursorKind.UNARY_OPERATOR:
            operator = unary_operator(cursor)
            if operator[-2:] in ("++", "--"):
                self.modify(operands(cursor)[0])
            elif operator == "&":
                self.address(operands(cursor)[0])
        elif kind == CursorKind.VAR_DECL and cursor.type.get_canonical().kind == TypeKind.LVALUEREFERENCE:
            for child in operands(cursor):
                self.bind(child, cursor.type.get_canonical().get_pointee().is_const_qualified())
        if kind in _CAST_KINDS and operands(cursor) and casts_lvalue(cursor):
            self.address(operands(cursor)[0])
        for child in cursor.get_children():
            self.visit(child)

    def block(self, cursor: Cursor) -> None:
        block = int(cursor.hash)
        for statement in cursor.get_children():
            if statement.kind == CursorKind.DECL_STMT:
                for child in statement.get_children():
                    if child.kind == CursorKind.VAR_DECL:
                        self.homes[declaration_key(child)] = block
            target = _plain_target(strip(statement))
            if target is None or self.homes.get(declaration_key(target)) != block:
                self.visit(statement)
                continue
            self.facts.modified.add(declaration_key(target))
            for operand in operands(strip(statement))[1:]:
                self.visit(operand)

    def modify(self, lvalue: Cursor) -> None:
        keys = root_keys(lvalue)
        self.facts.modified |= keys
        self.facts.nested |= keys

    def address(self, lvalue: Cursor) -> None:
        for declaration in roots(lvalue):
            key = THIS if declaration is None else declaration_key(declaration)
            self.facts.addressed.add(key)
            if declaration is not None and is_array(declaration.type):
                self.facts.flat.add(key)

    def bind(self, lvalue: Cursor, const: bool) -> None:
        if not const:
            self.modify(lvalue)

    def reference(self, cursor: Cursor) -> None:
        declaration = cursor.referenced
        if declaration is not None and is_array(declaration.type):
            self.facts.flat.add(declaration_key(declaration))

    def subscript(self, cursor: Cursor) -> None:
        depth, base = 0, cursor
        while base.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            inner = operands(base)
            for index in inner[1:]:
                self.visit(index)
            depth, base = depth + 1, strip(inner[0]) if inner else base
            if not inner:
                return
        if base.kind == CursorKind.DECL_REF_EXPR and base.referenced is not None:
            declaration = base.referenced
            type_ = declaration.type.get_canonical()
            if type_.kind == TypeKind.LVALUEREFERENCE:
                type_ = type_.get_pointee()
            if is_array(type_):
                if depth < array_rank(type_):
                    self.facts.flat.add(declaration_key(declaration))
                return
        self.visit(base)

    def call(self, cursor: Cursor) -> None:
        callee = callee_of(cursor)
        arguments = list(cursor.get_arguments())
        if callee is None:
            for child in cursor.get_children():
                self.visit(child)
            return
        operator_call = callee.kind == CursorKind.CXX_METHOD and bool(arguments) and not self._is_member_call(cursor)
        if callee.kind == CursorKind.CXX_METHOD and changes_object(self.unit, callee):
            self.modify_object(cursor, arguments, operator_call)
        bound = arguments[1:] if operator_call else arguments
        declared = parameters(callee)
        for i, argument in enumerate(bound):
            type_ = declared[i].type.get_canonical() if i < len(declared) else None
            if type_ is not None and type_.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
                self.by_reference(callee, i, argument, type_.get_pointee())
            else:
                self.visit(argument)
        seen = {a.hash for a in bound}
        for child in cursor.get_children():
            if child.hash not in seen:
                self.visit(child)

    @staticmethod
    def _is_member_call(cursor: Cursor) -> bool:
        first = next(iter(children(cursor)), None)
        return first is not None and strip(first).kind == CursorKind.MEMBER_REF_EXPR and strip(first).referenced == cursor.referenced

    def modify_object(self, cursor: Cursor, arguments: list[Cursor], operator_call: bool) -> None:
        if operator_call:
            self.modify(arguments[0])
            return
        first = next(iter(children(cursor)), None)
        if first is not None and strip(first).kind == CursorKind.MEMBER_REF_EXPR:
            inner = operands(strip(first))
            if not inner or strip(inner[0]).kind == CursorKind.CXX_THIS_EXPR:
                self.facts.modified.add(THIS)
            else:
                self.modify(inner[0])

    def by_reference(self, callee: Cursor, position: int, argument: Cursor, referent: object) -> None:
        """An argument bound to a reference: what the callee does to its parameter it does to the argument."""
        inner = strip(argument)
        if not referent.is_const_qualified():  # type: ignore[attr-defined]
            self.modify(argument)
        definition = definition_of(callee)
        if definition is None:
            self.visit(argument)
            return
        below = facts_of(self.unit, definition)
        declared = parameters(definition)
        key = declaration_key(declared[position]) if position < len(declared) else 0
        if key in below.addressed:
            self.address(argument)
        if inner.kind != CursorKind.DECL_REF_EXPR or not is_array(inner.type) or key in below.flat:
            self.visit(argument)
