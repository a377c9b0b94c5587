"""Finds the kernels of a folder of sources and draws some of them by a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".cu", ".hip")
_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
_KERNEL = re.compile(r"__global__\b[^;{}()]*(?:__launch_bounds__\s*\([^;{}]*?\)\s*)?[^;{}()]*?\b(\w+)\s*\(", re.S)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel definition. ``template`` and ``parameters`` are the texts of its parameter lists, ``body`` that of its body."""

    collection: Path
    file: Path
    name: str
    template: str
    parameters: str
    body: str

    @property
    def label(self) -> str:
        return f"{self.collection.name}/{self.file.relative_to(self.collection)}:{self.name}"


def visible(text: str) -> str:
    """The text with comments and strings blanked, every line where it was."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def closing(text: str, start: int, pair: str) -> int:
    """The place after the bracket that closes the one at ``start``; the end of the text when there is none."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if depth == 0:
            return place + 1
    return len(text)


def kernels_of(collection: Path, file: Path) -> Iterator[Kernel]:
    """The kernels that a file defines, in order, each name once."""
    text = visible(file.read_text(encoding="utf-8", errors="replace"))
    seen: set[str] = set()
    for match in _KERNEL.finditer(text):
        end = closing(text, match.end() - 1, "()")
        brace = re.compile(r"\s*\{").match(text, end)
        if brace is None or match[1] in seen:
            continue
        seen.add(match[1])
        head = re.compile(r"template\s*<([^{};]*)>\s*$").search(text, max(0, match.start() - 400), match.start())
        body = text[brace.end() - 1 : closing(text, brace.end() - 1, "{}")]
        yield Kernel(collection, file, match[1], head[1] if head else "", text[match.end() : end - 1], body)


def draw(collections: Sequence[Path], count: int, seed: int) -> list[Kernel]:
    """``count`` kernels (fewer where there are not so many), the same number from every collection while they last."""
    rng = random.Random(seed)
    queues = []
    for collection in collections:
        files = sorted(f for f in collection.rglob("*") if f.suffix in SUFFIXES and f.is_file())
        found = [kernel for file in files for kernel in kernels_of(collection, file)]
        queues.append(rng.sample(found, len(found)))
    drawn: list[Kernel] = []
    while len(drawn) < count and any(queues):
        for queue in queues:
            if queue and len(drawn) < count:
                drawn.append(queue.pop())
    return drawn
