"""Errors of the text that do not matter: those inside functions that the entry does not reach.

A driver program around a kernel often uses more of the world than our headers declare. What the entry reaches must be free of errors, and
so must everything at namespace scope, the heads of functions included (clang may have repaired a type there, and an oracle compiles them).
"""

from __future__ import annotations

from collections.abc import Iterator

from clang import cindex
from clang.cindex import CursorKind

from synth.errors import Diagnostic, SourceError
from synth.frontend.reader import clang
from synth.frontend.reader.clang import Cursor, Unit

_FUNCTIONS = frozenset(
    {
        CursorKind.FUNCTION_DECL,
        CursorKind.FUNCTION_TEMPLATE,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    }
)
_HOLDERS = frozenset(
    {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL}
)

_Extent = tuple[str, int, int]


def refuse_errors(unit: Unit, entry: Cursor | None) -> tuple[Diagnostic, ...]:
    """Raises SourceError for the first error that matters to ``entry`` (None: for any error); says which functions have others."""
    errors = [d for d in unit.handle.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if not errors:
        return ()
    known = dict(_bodies(unit.root)) if entry is not None else {}
    reached = _reached(entry) if entry is not None else set()
    skipped: dict[str, Diagnostic] = {}
    for error in errors:
        place = error.location
        file = place.file.name if place.file is not None else ""
        inside = [function for body, function in known.items() if body[0] == file and body[1] <= place.offset < body[2]]
        if not inside or any(_extent(function) in reached for function in inside):
            raise SourceError(error.spelling, clang.place(unit, place))
        name = inside[0].spelling
        message = f"function '{name}' has errors and is not read: {error.spelling}"
        skipped.setdefault(name, Diagnostic("note", message, clang.place(unit, place)))
    return tuple(skipped.values())


def _extent(part: Cursor) -> _Extent:
    start = part.extent.start
    return (start.file.name if start.file is not None else "", start.offset, part.extent.end.offset)


def _bodies(parent: Cursor) -> Iterator[tuple[_Extent, Cursor]]:
    for child in parent.get_children():
        body = clang.body_of(child) if child.kind in _FUNCTIONS else None
        if body is not None:
            yield _extent(body), child
        elif child.kind in _HOLDERS:
            yield from _bodies(child)


def _reached(entry: Cursor) -> set[_Extent]:
    """The extents of the entry and of every function that it refers to, directly or not."""
    found: set[_Extent] = {_extent(entry)}
    queue = [entry]
    while queue:
        for node in queue.pop().walk_preorder():
            target = node.referenced if node.kind.is_expression() else None
            if target is None or target.kind not in _FUNCTIONS:
                continue
            definition = clang.definition_of(target)
            if definition is not None and _extent(definition) not in found:
                found.add(_extent(definition))
                queue.append(definition)
    return found
