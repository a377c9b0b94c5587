"""The declarations of a source text that an entry needs: the others are blanked, line breaks and preprocessor lines kept.

A kernel's file often holds drivers, bindings and sibling kernels that need a world that we do not have. Where a text has errors it is read
again without what the entry does not need. Needing is decided by names, which is generous: whatever has a name that needed text mentions
stays, and so do operators, ``using`` directives and everything that is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
_DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n]*\\\n)*[^\n]*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MACRO = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.S)
_OPENS = re.compile(r"\s*(?:inline\s+)?(?:namespace\b[\w\s:]*|extern\s*\"?\s*C?\s*\"?\s*)\{", re.S)
_TEMPLATE = re.compile(r"\s*template\s*<")
_RECORD = re.compile(r"\s*(?:typedef\s+)?(?:struct|class|union|enum)\b")
_KEPT = re.compile(r"\s*(?:using\s+namespace\b|static_assert\b)|.*\boperator\b", re.S)
_DECLARATOR = re.compile(r"([A-Za-z_]\w*)\s*(?=[\[=;,({:)<]|$)")
_LAUNCH = re.compile(r"<<<|\bhipLaunchKernelGGL\b|\bcudaLaunchKernel\b")


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A declaration at namespace scope: ``text`` from ``start`` to ``end``, comments and strings blanked."""

    start: int
    end: int
    text: str

    @property
    def head(self) -> str:
        """What stands before the body or initialiser."""
        return self.text[: _first(self.text, "{")]

    @property
    def is_function(self) -> bool:
        """Whether it has a body and is no record and no initialised variable."""
        declaration = _without_template(self.head)
        return "{" in self.text and "(" in declaration and "=" not in declaration and not _RECORD.match(declaration)

    def names(self) -> set[str]:
        """What it declares, and perhaps more: for a record also all that its body mentions where it is an enumeration."""
        declaration = _without_template(self.head)
        found = set(_DECLARATOR.findall(_flat(declaration)))
        if _RECORD.match(declaration):
            found |= set(_IDENTIFIER.findall(self.text if re.match(r"\s*(?:typedef\s+)?enum\b", declaration) else declaration))
            found |= set(_DECLARATOR.findall(_flat(self.text[self.text.rfind("}") + 1 :])))
        return found | ({m[1]} if (m := re.match(r"\s*using\s+(\w+)", declaration)) else set())


def needed_text(text: str, entry: str | None) -> str:
    """``text`` with the declarations blanked that ``entry`` (a name; None: all functions that launch kernels, else all kernels, else all
    functions but ``main``) does not need."""
    shown = _HIDDEN.sub(_blanked, text)
    chunks = list(_chunks(shown, 0, len(shown)))
    macros = [m for d in _DIRECTIVE.findall(shown) if (m := _MACRO.match(d))]
    needed = {re.sub(r"<.*", "", entry, flags=re.S)} if entry else _roots(chunks)
    kept: set[int] = {i for i, chunk in enumerate(chunks) if _KEPT.match(chunk.head)}
    for i in kept:
        needed |= set(_IDENTIFIER.findall(chunks[i].text))
    grew = True
    while grew:
        grew = False
        for i, chunk in enumerate(chunks):
            if i not in kept and chunk.names() & needed:
                kept.add(i)
                needed |= set(_IDENTIFIER.findall(chunk.text))
                grew = True
        more = {word for m in macros if m[1] in needed for word in _IDENTIFIER.findall(m[2])} - needed
        needed |= more
        grew = grew or bool(more)
    out = list(text)
    for i, chunk in enumerate(chunks):
        if i not in kept:
            out[chunk.start : chunk.end] = _blanked_text(text[chunk.start : chunk.end])
    return "".join(out)


def _roots(chunks: Sequence[_Chunk]) -> set[str]:
    functions = [c for c in chunks if c.is_function and "main" not in c.names()]
    launching = [c for c in functions if _LAUNCH.search(c.text)]
    kernels = [c for c in functions if "__global__" in c.head]
    return {name for c in launching or kernels or functions for name in c.names()}


def _chunks(shown: str, place: int, end: int) -> Iterator[_Chunk]:
    """Declarations at namespace scope, looking into namespaces and linkage blocks, whose own braces belong to none."""
    while place < end:
        if shown[place].isspace() or shown[place] in ";})]":
            place += 1
            continue
        directive = _DIRECTIVE.match(shown, place)
        if directive:
            place = directive.end()
            continue
        opens = _OPENS.match(shown, place, end)
        if opens:
            place = opens.end()
            continue
        stop = _end_of_declaration(shown, place, end)
        yield _Chunk(place, stop, shown[place:stop])
        place = stop


def _end_of_declaration(shown: str, start: int, end: int) -> int:
    """After the ``;`` of a declaration, or after the body of a function."""
    depth, place = 0, start
    while place < end:
        character = shown[place]
        if character == "#" and not shown[shown.rfind("\n", 0, place) + 1 : place].strip():
            directive = _DIRECTIVE.match(shown, place)
            place = directive.end() if directive else place + 1
            continue
        depth += (character in "({[") - (character in ")}]")
        place += 1
        if depth < 0:
            return place - 1
        if depth == 0 and character == ";":
            return place
        if depth == 0 and character == "}" and _Chunk(start, place, shown[start:place]).is_function:
            return place
    return end


def _without_template(head: str) -> str:
    """A declaration without ``template <...>`` before it."""
    while (match := _TEMPLATE.match(head)) is not None:
        depth, place = 1, match.end()
        while place < len(head) and depth:
            depth += (head[place] == "<") - (head[place] == ">")
            place += 1
        head = head[place:]
    return head


def _flat(text: str) -> str:
    """The text without what stands in round or square brackets, the brackets left empty."""
    depth, out = 0, []
    for character in text:
        closes = character in ")]"
        depth -= closes
        if depth == 0:
            out.append(character)
        depth += character in "(["
    return "".join(out)


def _first(text: str, character: str) -> int:
    place = text.find(character)
    return len(text) if place < 0 else place


def _blanked(match: re.Match[str]) -> str:
    return "".join(_blanked_text(match[0]))


def _blanked_text(text: str) -> list[str]:
    return [c if c == "\n" else " " for c in text]
