"""A source file and how to read it: what every frontend takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.errors import Diagnostic
from synth.ir.grammar import Module

DIALECTS = ("cuda", "hip", "bang", "vnni")


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Grid and block of a bare kernel launch (``--launch``), x first."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """``defines``: ``-D``. ``entry``: the function to translate, when there are several. ``launch``: makes a bare kernel the entry.
    ``binds``: values of scalar parameters. ``extents``: element counts of pointer parameters, as C expressions over the scalar
    ones. ``source_target``: the device that a GPU source is for, which says how many lanes a warp has; None is its dialect's default.
    ``values``: what integer buffers hold in every test, for a program that is valid for consistent contents only."""

    defines: dict[str, str] = field(default_factory=dict)
    entry: str | None = None
    launch: LaunchShape | None = None
    binds: dict[str, int | float] = field(default_factory=dict)
    extents: dict[str, str] = field(default_factory=dict)
    source_target: str | None = None
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """Source text of a dialect (``cuda hip bang vnni``), with the file name that diagnostics show. ``headers`` are the user's own
    headers that it includes, by the name written in the ``#include "..."``."""

    text: str
    dialect: str
    filename: str = "source"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The module, and what the frontend wants to tell the user about it. ``reached`` is the source text with the bodies
    of functions that the entry does not reach emptied, where the dialect's frontend makes one: what an oracle has to compile, with
    ``headers``, in which includes that nobody has are empty. ``uncertain`` are parameters whose extent was derived and may be too long."""

    module: Module
    diagnostics: tuple[Diagnostic, ...] = ()
    reached: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    uncertain: tuple[str, ...] = ()
