"""Which translations of the suite are measured: every case of every direction, a pattern, or the stratified gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import permutations
from math import prod

from experiments.suite.registry import CASES, Case
from experiments.suite.shapes import OPERATORS, find_operator

GATE_SMALLEST = 6  # the gate takes its cases among so many of the smallest ones of an operator


@dataclass(frozen=True, slots=True)
class Item:
    """One case and where it goes."""

    case: Case
    target: str

    @property
    def direction(self) -> str:
        return f"{self.case.dialect}-{self.target}"

    @property
    def name(self) -> str:
        return f"{self.direction}/{self.case.name}"

    def matches(self, pattern: str) -> bool:
        """Whether a shell pattern fits its name, case, operator, source file or direction."""
        texts = (self.name, self.case.name, self.case.operator, self.case.source.name, self.direction)
        return any(fnmatchcase(text, pattern) for text in texts)


def directions(dialects: Sequence[str]) -> list[tuple[str, str]]:
    """All ordered pairs of different dialects."""
    return list(permutations(dialects, 2))


def every(dialects: Sequence[str], cases: Mapping[str, Sequence[Case]] = CASES) -> list[Item]:
    """Every case in every direction: the canonical ones first, a case of each operator after another, so that an unfinished run has seen
    all kinds."""
    items = [Item(case, target) for source, target in directions(dialects) for case in cases[source]]
    seen: dict[tuple[str, str], int] = {}
    order: list[tuple[bool, int, Item]] = []
    for item in items:
        group = (item.direction, item.case.operator)
        seen[group] = seen.get(group, -1) + 1
        order.append((not item.case.canonical, seen[group], item))
    return [item for _, _, item in sorted(order, key=lambda entry: entry[:2])]


def gate(dialects: Sequence[str], cases: Mapping[str, Sequence[Case]] = CASES) -> list[Item]:
    """Every operator once in every direction: 126 items of three dialects. Fixed: the next one of the operator's smaller cases is taken
    from one direction to the next, so that shapes and sources vary over the directions."""
    items = []
    for number, (source, target) in enumerate(directions(dialects)):
        for place, operator in enumerate(OPERATORS):
            own = sorted((case for case in cases[source] if case.canonical and case.operator == operator), key=size)
            if own:
                smallest = own[:GATE_SMALLEST]
                items.append(Item(smallest[(number + place) % len(smallest)], target))
    return items


def size(case: Case) -> int:
    """Elements of all tensors of a case."""
    return sum(map(prod, find_operator(case.operator).extents(case.dims).values()))
