"""Rewrites CUDA or HIP source text so that a C++ compiler takes it together with the emulator's headers. Lines stay where they are.

Three things of these languages are not C++ (nor macros): a launch ``k<<<...>>>(...)`` becomes a call, a ``__shared__`` declaration
becomes a reference into the block's memory, and a ``cudaMalloc`` or ``hipMalloc`` carries the name of its variable for reports. Everything
is found in a copy of the text in which comments and literals are blanked, so that what is quoted is left alone. What is not recognised
stays as it is: the compiler then names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from devices.text_edits import Edit, apply_edits, mask
from devices.vector_text import vector_types

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ALIGNMENT = re.compile(
    r"(?:\balignas|\b__align__|\b__attribute__\s*\(\s*\(\s*(?:__)?aligned(?:__)?)\s*\(([^()]*(?:\([^()]*\))?[^()]*)\)(\s*\)\s*\))?"
)

# functions of <math.h>, <stdlib.h>, <string.h> and <stdio.h> that kernels are named after
C_NAMES = frozenset(
    """abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax
    fmin fmod frexp hypot index ldexp lgamma log log10 log1p log2 logb modf pow rint round scalbn sin sincos sinh sqrt tan tanh tgamma
    trunc y0 y1 j0 j1 gamma drem significand remove rename random exit malloc free""".split()
)


def rewrite(text: str, entry: str) -> tuple[str, str]:
    """The C++ text and the name of ``entry`` in it (which changes only where it is a name of the C library)."""
    masked = mask(text)
    renamed = {name for name in C_NAMES if _definition(name).search(masked)}
    edits = [*_launches(text, masked, renamed), *_shared(text, masked), *_allocations(text, masked), *_renames(masked, renamed)]
    edits += [*_launch_macros(masked, renamed), *vector_types(masked)]
    return apply_edits(text, edits), renamed_entry(entry) if entry in renamed else entry


def renamed_entry(name: str) -> str:
    return f"xp_renamed_{name}"


def rename_definitions(text: str) -> tuple[str, set[str]]:
    """Renames functions that are defined under a name of the C library, and nothing else: what calls that name means the library's."""
    masked = mask(text)
    renamed = {name for name in C_NAMES if _definition(name).search(masked)}
    return apply_edits(text, list(_renames(masked, renamed))), renamed


def _definition(name: str) -> re.Pattern[str]:
    # the entry and kernels return nothing or a status
    return re.compile(rf"\b(?:void|int)\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?({name})\s*\(")


def _renames(masked: str, names: set[str]) -> Iterator[Edit]:
    for name in names:
        for found in _definition(name).finditer(masked):
            yield Edit(found.start(1), found.end(1), renamed_entry(name))


def _match_forward(masked: str, opening: int) -> int | None:
    """The index of the bracket that closes ``masked[opening]``."""
    stack: list[str] = []
    for index in range(opening, len(masked)):
        character = masked[index]
        if character in _CLOSES:
            stack.append(_CLOSES[character])
        elif stack and character == stack[-1]:
            stack.pop()
            if not stack:
                return index
        elif character in ")]}":
            return None
    return None


def _match_backward(masked: str, closing: int) -> int | None:
    """The index of the bracket that opens ``masked[closing]``, which is one of ``) ] >``. Template brackets are counted only for ``>``."""
    opens = {")": "(", "]": "[", "}": "{", **({">": "<"} if masked[closing] == ">" else {})}
    stack: list[str] = []
    for index in range(closing, -1, -1):
        character = masked[index]
        if character in opens:
            stack.append(opens[character])
        elif stack and character == stack[-1]:
            stack.pop()
            if not stack:
                return index
        elif character in ";{" or character in "([":
            return None
    return None


def _callee_start(masked: str, end: int) -> int | None:
    """Where the expression that ends before ``end`` and is launched begins: ``name``, ``ns::name<T, 4>``, ``(*pointer)``, ``table[i]``."""
    at = len(masked[:end].rstrip())
    while at > 0 and masked[at - 1] in ">])":
        opening = _match_backward(masked, at - 1)
        if opening is None:
            return None
        if masked[opening] == "(":
            return opening
        at = len(masked[:opening].rstrip())
    begin = at
    while (begin > 0 and (masked[begin - 1].isalnum() or masked[begin - 1] in "_:.")) or masked[begin - 2 : begin] == "->":
        begin -= 2 if masked[begin - 2 : begin] == "->" else 1
    return begin if begin < at else None


def _launches(text: str, masked: str, renamed: set[str]) -> Iterator[Edit]:
    for found in re.finditer(r"<<<", masked):
        start = _callee_start(masked, found.start())
        close = _configuration_end(masked, found.end())
        if start is None or close is None:
            continue
        opening = re.compile(r"\s*(?:\\\n\s*)*\(").match(masked, close + 3)
        if opening is None:
            continue
        closing = _match_forward(masked, opening.end() - 1)
        if closing is None:
            continue
        callee = " ".join(text[start : found.start()].split())
        callee = renamed_entry(callee) if callee in renamed else callee
        label = re.sub(r"[^A-Za-z0-9_:<>, ]", "", callee)
        has_arguments = masked[opening.end() : closing].replace("\\\n", " ").strip() != ""
        yield Edit(start, found.end(), f'::xp::configure("{label}", __LINE__, ')
        body = f"[&](auto... xp_a) {{ {callee}(xp_a...); }}, " if has_arguments else f"[&] {{ {callee}(); }}"
        yield Edit(close, opening.end(), f").run({body}")
        # a null constant would arrive as an integer
        for null in re.finditer(r"\bNULL\b", masked[opening.end() : closing]):
            yield Edit(opening.end() + null.start(), opening.end() + null.end(), "nullptr")


def _launch_macros(masked: str, renamed: set[str]) -> Iterator[Edit]:
    """``hipLaunchKernelGGL(name, ...)`` is a macro of the emulator; only a renamed kernel is touched."""
    for found in re.finditer(r"\bhipLaunchKernelGGL\s*\(\s*(?:HIP_KERNEL_NAME\s*\(|\()?\s*([A-Za-z_]\w*)", masked):
        if found.group(1) in renamed:
            yield Edit(found.start(1), found.end(1), renamed_entry(found.group(1)))


def _configuration_end(masked: str, start: int) -> int | None:
    """The index of the ``>>>`` that ends a launch configuration."""
    index = start
    while index < len(masked):
        character = masked[index]
        if masked.startswith(">>>", index):
            return index
        if character in _CLOSES:
            closing = _match_forward(masked, index)
            if closing is None:
                return None
            index = closing
        elif character in ";)}]":
            return None
        index += 1
    return None


def _allocations(text: str, masked: str) -> Iterator[Edit]:
    for found in re.finditer(r"(?<![\w.>])(?:::)?((?:cuda|hip)Malloc(?:Managed)?)\s*(?=[(<])", masked):
        opening = masked.find("(", found.end())
        line_end = masked.find("\n", found.start())
        if opening < 0 or (0 <= line_end < opening):
            continue
        argument = re.match(
            r"\s*(?:\(\s*void\s*\*\s*\*\s*\)|reinterpret_cast\s*<[^>]*>\s*\()?\s*&\s*([A-Za-z_][\w.\[\]>-]*)", masked[opening + 1 :]
        )
        name = text[opening + 1 :][argument.start(1) : argument.end(1)] if argument else ""
        if name:
            yield Edit(found.start(), found.start(1), f'::xp::named("{name}", __LINE__).')


# ------------------------------------------------------------------------------------------------------------------ shared memory


@dataclass(frozen=True, slots=True)
class _Declarator:
    name: str
    stars: str
    dims: str


def _shared(text: str, masked: str) -> Iterator[Edit]:
    functions = _function_bodies(masked)
    for found in re.finditer(r"\b__shared__\b", masked):
        start = max(masked.rfind(character, 0, found.start()) for character in ";{}:#") + 1
        if start > 0 and masked[start - 1] == "#":
            line_end = _directive_end(masked, start)
            # in a directive: only what stands complete in the macro's text is rewritten; after one: its declaration starts on a new line
            start = found.start() if found.start() < line_end else line_end
        end = _statement_end(masked, found.end())
        if end is None:
            continue
        before = text[start : found.start()]
        start += len(before) - len(before.lstrip())
        if re.search(r"[(,=]", mask(before).replace("alignas(", "").replace("__align__(", "")):
            start, before = found.start(), ""
        statement = re.sub(r"\\\n", " ", before + " " + _without_comments(text, masked, found.end(), end))
        inside = any(a < found.start() < b for a, b in functions) or masked[masked.rfind("\n", 0, found.start()) + 1 :].lstrip().startswith(
            "#"
        )
        replacement = _declaration(statement, inside)
        if replacement is not None:
            yield Edit(start, end, replacement)


def _directive_end(masked: str, start: int) -> int:
    """Where the line of a preprocessor directive ends, with the lines that it is continued on."""
    end = masked.find("\n", start)
    while end > 0 and masked[end - 1] == "\\":
        end = masked.find("\n", end + 1)
    return len(masked) if end < 0 else end


def _without_comments(text: str, masked: str, start: int, end: int) -> str:
    return "".join(m if m.isspace() else t for t, m in zip(text[start:end], masked[start:end], strict=True))


def _statement_end(masked: str, start: int) -> int | None:
    """The index of the ``;`` that ends the declaration, on whatever line, but not beyond a directive's end."""
    index = start
    in_directive = masked[masked.rfind("\n", 0, start) + 1 :].lstrip().startswith("#")
    while index < len(masked):
        character = masked[index]
        if character == ";":
            return index
        if character == "\n" and in_directive and masked[index - 1] != "\\":
            return None
        if character in _CLOSES:
            closing = _match_forward(masked, index)
            if closing is None:
                return None
            index = closing
        elif character in ")}]":
            return None
        index += 1
    return None


def _function_bodies(masked: str) -> list[tuple[int, int]]:
    """The extents of braces that are not those of a namespace or ``extern "C"``."""
    bodies: list[tuple[int, int]] = []
    index = 0
    while (index := masked.find("{", index)) >= 0:
        head = masked[max(masked.rfind(character, 0, index) for character in ";{}") + 1 : index]
        if re.search(r"\bnamespace\b|\bextern\s*$", head):
            index += 1
            continue
        closing = _match_forward(masked, index)
        if closing is None:
            index += 1
            continue
        bodies.append((index, closing))
        index = closing
    return bodies


def _declaration(statement: str, inside: bool) -> str | None:
    """The C++ for the declaration ``statement`` (without ``__shared__`` and ``;``), or None when its form is not known."""
    alignments = [found.group(1).strip() for found in _ALIGNMENT.finditer(statement)]
    rest = _ALIGNMENT.sub(" ", statement)
    is_extern = re.search(r"\bextern\b", rest) is not None
    rest = re.sub(r"\b(extern|static|__device__)\b", " ", rest).strip()
    definition = ""
    brace = rest.find("{")
    if brace >= 0:
        close = _match_forward(rest, brace)
        head = re.match(r"(struct|union|class)\s*([A-Za-z_]\w*)?\s*$", rest[:brace].strip() + " ")
        if close is None or head is None:
            return None
        declared = re.search(r"[A-Za-z_]\w*", rest[close + 1 :])
        type_name = head.group(2) or f"xp_type_of_{declared.group() if declared else 'shared'}"
        definition = f"{head.group(1)} {type_name} {rest[brace : close + 1]}; "
        rest = f"{type_name} {rest[close + 1 :]}"
    parsed = _declarators(rest)
    if parsed is None:
        return None
    type_text, declarators = parsed
    return definition + "; ".join(_one(type_text, d, is_extern, inside, alignments) for d in declarators)


def _one(type_text: str, d: _Declarator, is_extern: bool, inside: bool, alignments: list[str]) -> str:
    element = f"{type_text} {d.stars}".strip()
    unbounded = re.match(r"\[\s*\]", d.dims)
    if is_extern or unbounded:
        inner = d.dims[unbounded.end() :] if unbounded else d.dims
        if not inside:
            return f"static ::xp::DynamicShared<{element}{inner}> {d.name}"
        return f"{element} (*const {d.name}){inner} = reinterpret_cast<{element} (*){inner}>(::xp::dynamic_shared(alignof({element})))"
    slot = f'[]() -> ::xp::SharedSlot& {{ static ::xp::SharedSlot xp_slot{{"{d.name}", 0}}; return xp_slot; }}()'
    alignment = "".join(f", {a}" for a in alignments[:1])
    return f"auto& {d.name} = ::xp::shared<{element}{d.dims}{alignment}>({slot})"


def _declarators(rest: str) -> tuple[str, list[_Declarator]] | None:
    """Splits ``float *a, b[4][N]`` into the type and its declarators, from the end: a type may hold commas, declarators may not."""
    found: list[_Declarator] = []
    end = len(rest.rstrip())
    while True:
        at = end
        while at > 0 and rest[at - 1] == "]":
            opening = _match_backward(rest, at - 1)
            if opening is None:
                return None
            at = len(rest[:opening].rstrip())
        dims = rest[at:end].strip()
        name = re.search(r"([A-Za-z_]\w*)$", rest[:at])
        if name is None:
            return None
        before = rest[: name.start()].rstrip()
        stars = ""
        while before.endswith("*"):
            before, stars = before[:-1].rstrip(), stars + "*"
        found.append(_Declarator(name.group(1), stars, dims))
        if before.endswith(","):
            end = len(before[:-1].rstrip())
            continue
        return (before, found[::-1]) if before else None
