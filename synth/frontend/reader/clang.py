"""libclang behind a small typed face: parse text, walk cursors, ask for operators, constants and tokens.

libclang 18.1.1 (PyPI). Operator kinds and constant evaluation come from the C API through ctypes (``clang-c/Index.h``:
``clang_getCursorBinaryOperatorKind``, ``clang_getCursorUnaryOperatorKind``, ``clang_Cursor_Evaluate``,
``clang_Cursor_getVarDeclInitializer``); the Python binding of that release does not register them.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import CursorKind, TokenKind

from synth.errors import MissingIncludeError, SourceError, UnsupportedError
from synth.frontend.reader.depth import MAX_TREE_DEPTH
from synth.ir.grammar import Location

INCLUDE_FOLDER = Path(__file__).parent.parent / "include"

# A folder that does not exist: relative includes of the user's file are looked up there and so never found on the host.
_VIRTUAL_FOLDER = "/xpiler-virtual"

# Enumerators of CXBinaryOperatorKind and CXUnaryOperatorKind, in order (clang-c/Index.h of LLVM 17 and later).
BINARY_KINDS = tuple("invalid .* ->* * / % + - << >> <=> < > <= >= == != & ^ | && || = *= /= %= += -= <<= >>= &= ^= |= ,".split())
UNARY_KINDS = tuple("invalid post++ post-- pre++ pre-- & * + - ~ ! real imag extension co_await".split())

_EVAL_INT, _EVAL_FLOAT = 1, 2  # CXEval_Int, CXEval_Float

Cursor = Any  # clang.cindex.Cursor: the binding is untyped
ClangType = Any  # clang.cindex.Type


@cache
def _library() -> Any:
    library = cindex.conf.lib
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(library, name)
        function.argtypes, function.restype = [cindex.Cursor], ctypes.c_int
    library.clang_Cursor_Evaluate.argtypes, library.clang_Cursor_Evaluate.restype = [cindex.Cursor], ctypes.c_void_p
    results: dict[str, Any] = {
        "clang_EvalResult_getKind": ctypes.c_int,
        "clang_EvalResult_getAsLongLong": ctypes.c_longlong,
        "clang_EvalResult_isUnsignedInt": ctypes.c_uint,
        "clang_EvalResult_getAsUnsigned": ctypes.c_ulonglong,
        "clang_EvalResult_getAsDouble": ctypes.c_double,
        "clang_EvalResult_dispose": None,
    }
    for name, result in results.items():
        function = getattr(library, name)
        function.argtypes, function.restype = [ctypes.c_void_p], result
    library.clang_Cursor_getVarDeclInitializer.argtypes = [cindex.Cursor]
    library.clang_Cursor_getVarDeclInitializer.restype = cindex.Cursor
    library.clang_Cursor_getVarDeclInitializer.errcheck = cindex.Cursor.from_cursor_result
    return library


@dataclass(frozen=True)
class Unit:
    """A parsed source file. ``text`` is what the user wrote (without what ``parse`` was asked to append)."""

    handle: Any
    path: str
    filename: str
    text: str
    memo: dict[Any, Any] = field(default_factory=dict, compare=False)

    @property
    def root(self) -> Cursor:
        return self.handle.cursor

    def location(self, cursor: Cursor) -> Location:
        """The place of a cursor; what lies in our own include folder is shown by that header's name."""
        return _location(cursor.location, self.path, self.filename)

    def own_declarations(self) -> Iterator[Cursor]:
        """Top-level declarations of the user's file, in order, looking through ``extern "C"`` and namespaces."""
        yield from self._declarations(self.root)

    def _declarations(self, parent: Cursor) -> Iterator[Cursor]:
        for child in parent.get_children():
            where = child.location.file
            if where is None or where.name != self.path:
                continue
            if child.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.NAMESPACE):
                yield from self._declarations(child)
            else:
                yield child


def _location(place: Any, path: str, filename: str) -> Location:
    name = place.file.name if place.file is not None else path
    shown = filename if name == path else os.path.basename(name)
    return Location(shown, place.line, place.column)


def place(unit: Unit, where: Any) -> Location:
    """A clang source location as the user sees it."""
    return _location(where, unit.path, unit.filename)


CUDA_ARGUMENTS = ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-host-only", "-std=c++17", "-Wno-unknown-cuda-version")
CPP_ARGUMENTS = ("-x", "c++", "-std=c++17")
_COMMON = (
    "-nostdinc",
    "-nostdinc++",
    "-w",
    "-Wno-register",
    "-fbracket-depth=256",
    "-ftemplate-depth=64",
    "-fconstexpr-steps=200000",
    "-ferror-limit=100",
)


def parse(
    text: str,
    filename: str,
    arguments: Sequence[str] = CPP_ARGUMENTS,
    *,
    defines: Mapping[str, str] | None = None,
    append: str = "",
    shim: Mapping[str, str] | None = None,
    force_include: Sequence[str] = (),
    tolerant: bool = False,
) -> Unit:
    """Parses ``text + append``. ``arguments`` choose the language; headers come from our include folder only, ``shim`` adds headers by
    name, and ``force_include`` names headers that are read first. ``tolerant`` leaves errors that are not fatal to
    ``synth.frontend.tolerance``.

    Raises SourceError, with the line, for the first syntax or type error and for an include that we do not have.
    """
    _library()
    path = f"{_VIRTUAL_FOLDER}/{os.path.basename(filename) or 'source'}"
    if "\0" in text:
        raise SourceError("the source contains a NUL byte", Location(filename, text[: text.index("\0")].count("\n") + 1))
    _refuse_foreign_includes(text, filename)
    command = [*arguments, *_COMMON, "-isystem", str(INCLUDE_FOLDER), "-isystem", f"{_VIRTUAL_FOLDER}/shim"]
    # After the headers: a macro called T or N must not change what they declare.
    definitions = f"{_VIRTUAL_FOLDER}/definitions.h"
    for header in (*force_include, definitions):
        command += ["-include", header]
    files = [(path, text.encode("utf-8", "replace").decode() + append)]
    files.append((definitions, "".join(f"#define {name} {value}\n" for name, value in (defines or {}).items())))
    files += [(f"{_VIRTUAL_FOLDER}/shim/{name}", content) for name, content in (shim or {}).items()]
    try:
        handle = cindex.Index.create().parse(path, args=command, unsaved_files=files)
    except cindex.TranslationUnitLoadError as error:
        raise SourceError("the source cannot be parsed", Location(filename, 1), hint="is it C++ of the given dialect?") from error
    unit = Unit(handle, path, filename, text)
    _refuse_errors(unit, cindex.Diagnostic.Fatal if tolerant else cindex.Diagnostic.Error)
    _refuse_deep(unit)
    return unit


def _refuse_foreign_includes(text: str, filename: str) -> None:
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*(?:include|include_next|import)\s*[<"]([^>"]*)', line)
        if match and (match[1].startswith("/") or ".." in match[1].split("/")):
            raise SourceError(
                f"include of '{match[1]}' is outside our include folder",
                Location(filename, number),
                hint="paste the needed part into the file",
            )


def _refuse_errors(unit: Unit, severity: int) -> None:
    for diagnostic in unit.handle.diagnostics:
        if diagnostic.severity < severity:
            continue
        if diagnostic.location.file is None and severity > cindex.Diagnostic.Error:
            _refuse_errors(unit, cindex.Diagnostic.Error)  # "too many errors": the first of them says more
        place = _location(diagnostic.location, unit.path, unit.filename)
        missing = re.match(r"'(.*)' file not found", diagnostic.spelling)
        if missing:
            raise MissingIncludeError(missing[1], place)
        raise SourceError(diagnostic.spelling, place)


def _refuse_deep(unit: Unit) -> None:
    """The depth is measured without recursion: the binding swallows a recursion error inside its callbacks."""
    for declaration in unit.own_declarations():
        level = [declaration]
        for _ in range(MAX_TREE_DEPTH):
            level = [child for cursor in level for child in cursor.get_children()]
            if not level:
                break
        else:
            raise UnsupportedError(
                f"nesting more than {MAX_TREE_DEPTH} levels deep is not supported",
                unit.location(level[0]),
                "split the expression or statement into several",
            )


# ------------------------------------------------------------------------------------------------------- questions


def children(cursor: Cursor) -> list[Cursor]:
    return list(cursor.get_children())


_NOT_EXPRESSIONS = frozenset({CursorKind.TYPE_REF, CursorKind.NAMESPACE_REF, CursorKind.TEMPLATE_REF, CursorKind.OVERLOADED_DECL_REF})


def operands(cursor: Cursor) -> list[Cursor]:
    """The children that are expressions or statements: references to types, templates and namespaces and attributes are left out."""
    return [c for c in cursor.get_children() if c.kind not in _NOT_EXPRESSIONS and not c.kind.is_attribute()]


def binary_operator(cursor: Cursor) -> str:
    """The spelling of a binary operator (``+=`` and ``=`` included)."""
    return _kind_name(BINARY_KINDS, _library().clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Cursor) -> str:
    """``post++``, ``post--``, ``pre++``, ``pre--`` or the spelling of the operator."""
    return _kind_name(UNARY_KINDS, _library().clang_getCursorUnaryOperatorKind(cursor))


def _kind_name(names: Sequence[str], kind: int) -> str:
    return names[kind] if 0 <= kind < len(names) else "invalid"


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of a constant expression as clang computes it, or None. Never ask for an expression with side effects."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = library.clang_EvalResult_getKind(result)
        if kind == _EVAL_INT:
            if library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            return int(library.clang_EvalResult_getAsLongLong(result))
        if kind == _EVAL_FLOAT:
            return float(library.clang_EvalResult_getAsDouble(result))
        return None
    finally:
        library.clang_EvalResult_dispose(result)


def initializer(declaration: Cursor) -> Cursor | None:
    """The initialiser of a variable, or None."""
    return _library().clang_Cursor_getVarDeclInitializer(declaration)


def tokens(cursor: Cursor) -> list[tuple[str, int]]:
    """Spelling and offset of each token in the cursor's extent (of the text as written: macros are not expanded), comments left out."""
    return [(t.spelling, t.extent.start.offset) for t in cursor.get_tokens() if t.kind != TokenKind.COMMENT]


def same(a: Cursor | None, b: Cursor | None) -> bool:
    """Whether two cursors are the same (the binding's ``==`` does not take None)."""
    return a is not None and b is not None and bool(a == b)


def tokens_between(unit: Unit, start: Cursor, end: Cursor) -> list[str]:
    """Spellings of the tokens from the end of one cursor to the start of the next (the next's first token included)."""
    extent = cindex.SourceRange.from_locations(start.extent.end, end.extent.start)
    return [t.spelling for t in unit.handle.get_tokens(extent=extent)]


def declaration_key(cursor: Cursor) -> int:
    """An identity of the declaration ``cursor`` within its unit."""
    return int(cursor.canonical.hash)


def definition_of(function: Cursor) -> Cursor | None:
    """The declaration of ``function`` that has a body, or None."""
    if body_of(function) is not None:
        return function
    definition = function.get_definition()
    return definition if definition is not None and body_of(definition) is not None else None


def callee_of(call: Cursor) -> Cursor | None:
    """What a call calls, as declared; also ``(f)(x)``, of which the binding does not tell."""
    if call.referenced is not None:
        return call.referenced
    first = next(iter(operands(call)), None)
    inner = None if first is None else strip(first)
    return inner.referenced if inner is not None and inner.kind == CursorKind.DECL_REF_EXPR else None


def body_of(function: Cursor) -> Cursor | None:
    for child in function.get_children():
        if child.kind == CursorKind.COMPOUND_STMT:
            return child
    return None


def parameters(function: Cursor) -> list[Cursor]:
    return [c for c in function.get_children() if c.kind == CursorKind.PARM_DECL]


def strip(cursor: Cursor) -> Cursor:
    """Looks through parentheses and unexposed (implicit) nodes."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        inner = operands(cursor)
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor


def casts_lvalue(cursor: Cursor) -> bool:
    """Whether a cast names a reference type (``reinterpret_cast<float4 &>(x)``): its type ends in ``&`` as written."""
    if cursor.kind not in (CursorKind.CXX_REINTERPRET_CAST_EXPR, CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_STATIC_CAST_EXPR):
        return False
    depth = 0
    opening, closing = ("(", ")") if cursor.kind == CursorKind.CSTYLE_CAST_EXPR else ("<", ">")
    previous = ""
    for spelling, _ in tokens(cursor)[:64]:
        if spelling == opening:
            depth += 1
        elif spelling == closing:
            depth -= 1
            if depth == 0:
                return previous in ("&", "&&")
        previous = spelling
    return False
