"""OpenMP pragmas, read from the text: which loop is bound to which axis.

The source is parsed without ``-fopenmp``, so clang sees plain loops. A directive belongs to the statement that follows it (OpenMP API 5.2,
section 3.1). Loops under ``for``, ``parallel for`` and their ``simd`` forms become ``omp`` loops, with ``collapse(n)`` the n outermost of
the nest; loops under ``simd`` become ``simd`` loops. Clauses that only tune or name storage are passed over. A directive under a
preprocessor condition other than on ``_OPENMP`` is dropped: the loop is serial then, which means the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from clang.cindex import CursorKind

from synth.errors import Diagnostic, UnsupportedError
from synth.frontend.reader import clang
from synth.frontend.reader.clang import Cursor, Unit
from synth.ir.grammar import Axis, Location

_LOOP_DIRECTIVES: dict[str, Axis] = {
    "parallel for": Axis.OMP,
    "for": Axis.OMP,
    "parallel for simd": Axis.OMP,
    "for simd": Axis.OMP,
    "simd": Axis.SIMD,
}
_WORDS = frozenset(["parallel", "for", "simd"])
# These say how threads are used, not what is computed; private copies are what the reader makes of locals anyway.
_KNOWN_CLAUSES = frozenset(
    [
        "schedule",
        "num_threads",
        "reduction",
        "collapse",
        "private",
        "firstprivate",
        "shared",
        "default",
        "nowait",
        "simdlen",
        "safelen",
        "aligned",
    ]
)
_PASSED_OVER = frozenset(["declare simd", "end declare simd"])


@dataclass(frozen=True, slots=True)
class Pragma:
    """One ``#pragma omp``: the directive's words, its clauses by name, and the offsets of its text."""

    directive: str
    clauses: dict[str, str]
    start: int
    end: int
    where: Location
    conditional: bool = False


@dataclass(slots=True)
class OpenMP:
    """The axes of the loops of one file, by the offset where the loop starts."""

    axes: dict[int, Axis] = field(default_factory=dict)

    def axis(self, loop: Cursor) -> Axis | None:
        return self.axes.get(loop.extent.start.offset)


def read(unit: Unit, functions: Sequence[Cursor], notes: list[Diagnostic]) -> OpenMP:
    """The axes of the loops in these functions. Raises UnsupportedError for a directive that is not read; unknown clauses are noted."""
    source = unit.text.encode()
    pragmas = [p for f in functions for p in _inside(f, find(unit))]
    found = OpenMP()
    for pragma in pragmas:
        if pragma.directive in _PASSED_OVER:
            continue
        if pragma.conditional:
            notes.append(
                Diagnostic("note", f"OpenMP directive '{pragma.directive}' under a preprocessor condition is ignored", pragma.where)
            )
            continue
        statement = _statement_after(functions, _skip(source, pragma.end))
        if pragma.directive == "parallel" and statement is not None and statement.kind == CursorKind.COMPOUND_STMT:
            _check_region(statement, source, pragma)
        elif pragma.directive in _LOOP_DIRECTIVES and statement is not None and statement.kind == CursorKind.FOR_STMT:
            _bind(found, statement, _LOOP_DIRECTIVES[pragma.directive], pragma)
        else:
            raise UnsupportedError(
                f"OpenMP directive '{pragma.directive}' here is not supported",
                pragma.where,
                "use 'parallel for' and 'simd' in front of loops",
            )
        for clause in pragma.clauses:
            if clause not in _KNOWN_CLAUSES:
                notes.append(Diagnostic("note", f"OpenMP clause '{clause}' is ignored", pragma.where))
    return found


def find(unit: Unit) -> list[Pragma]:
    """All OpenMP pragmas of the file, in order; continuation lines are joined."""
    found: list[Pragma] = []
    source = unit.text.encode()
    for match in re.finditer(rb"^[ \t]*#[ \t]*pragma[ \t]+omp\b((?:\\\r?\n|[^\n])*)", source, re.M):
        text = re.sub(rb"\\\r?\n", b" ", match[1]).decode("utf-8", "replace")
        text = re.sub(r"//.*|/\*.*?\*/", " ", text)
        line = source.count(b"\n", 0, match.start()) + 1
        where = Location(unit.filename, line, match.start() - source.rfind(b"\n", 0, match.start()))
        directive, clauses = _parsed(text)
        found.append(Pragma(directive, clauses, match.start(), match.end(), where, _conditional(source[: match.start()])))
    return found


def _conditional(before: bytes) -> bool:
    """Whether the text that follows ``before`` stands under a preprocessor condition other than that OpenMP is there."""
    stack: list[bool] = []
    for match in re.finditer(rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b([^\n]*)", before, re.M):
        word, rest = match[1], match[2].strip()
        if word == b"endif":
            if stack:
                stack.pop()
        elif word in (b"elif", b"else"):
            if stack:
                stack[-1] = False
        else:
            stack.append(word != b"ifndef" and re.fullmatch(rb"(defined)?\s*\(?\s*_OPENMP\s*\)?", rest) is not None)
    return not all(stack)


def _parsed(text: str) -> tuple[str, dict[str, str]]:
    items = re.findall(r"([A-Za-z_]\w*)\s*(\((?:[^()]|\([^()]*\))*\))?", text)
    words: list[str] = []
    clauses: dict[str, str] = {}
    for name, argument in items:
        if not clauses and not argument and (name in _WORDS or not words or (words[0] not in _WORDS and name not in _KNOWN_CLAUSES)):
            words.append(name)
        else:
            clauses[name] = argument[1:-1].strip() if argument else ""
    return " ".join(words), clauses


def _inside(function: Cursor, pragmas: Sequence[Pragma]) -> Iterator[Pragma]:
    start, end = function.extent.start.offset, function.extent.end.offset
    return (p for p in pragmas if start <= p.start < end)


def _skip(source: bytes, offset: int) -> int:
    """The offset of the first token after white space, comments and preprocessor lines."""
    pattern = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/|#(?:\\\r?\n|[^\n])*)*", re.S)
    match = pattern.match(source, offset)
    return match.end() if match else offset


def _statement_after(functions: Sequence[Cursor], offset: int) -> Cursor | None:
    for function in functions:
        if function.extent.start.offset <= offset < function.extent.end.offset:
            for node in function.walk_preorder():
                if node.kind.is_statement() and node.extent.start.offset == offset:
                    return node
    return None


def _bind(found: OpenMP, loop: Cursor, axis: Axis, pragma: Pragma) -> None:
    depth = pragma.clauses.get("collapse", "1")
    if not depth.isdigit() or int(depth) < 1:
        raise UnsupportedError(f"OpenMP collapse({depth}): the depth is not a literal", pragma.where, "write the number")
    current: Cursor | None = loop
    for _ in range(int(depth)):
        if current is None:
            raise UnsupportedError(f"OpenMP collapse({depth}): the loops are not perfectly nested", pragma.where, "lower the depth")
        found.axes[current.extent.start.offset] = axis
        current = _only_loop(current)


def _only_loop(loop: Cursor) -> Cursor | None:
    body = clang.children(loop)[-1]
    while body.kind == CursorKind.COMPOUND_STMT:
        inner = clang.children(body)
        if len(inner) != 1:
            return None
        body = inner[0]
    return body if body.kind == CursorKind.FOR_STMT else None


def _check_region(region: Cursor, source: bytes, pragma: Pragma) -> None:
    """A ``parallel`` region holds work-shared loops and declarations only: anything else would be done by every thread."""
    for part in clang.children(region):
        before = source[: part.extent.start.offset].rstrip()
        line = before[before.rfind(b"\n") + 1 :]
        shared = part.kind == CursorKind.FOR_STMT and re.match(rb"\s*#\s*pragma\s+omp\s+for\b", line) is not None
        if not shared and part.kind != CursorKind.DECL_STMT:
            raise UnsupportedError(
                "a statement in an OpenMP parallel region that every thread executes",
                pragma.where,
                "use 'parallel for' in front of the loop",
            )
