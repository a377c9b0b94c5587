"""Taking a kernel launch apart, and the sites of launches: the kernel's name, with ``~2``, ``~3``, ... for later launches of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from synth.errors import UnsupportedError
from synth.ir.grammar import Axis, Body, For, Launch, Module
from synth.ir.traversal import replace_stmt, walk


@dataclass(frozen=True, slots=True)
class LaunchParts:
    """``blocks`` and ``threads`` are the bound loops, outermost (z) first; ``shared`` the statements between them; ``kernel`` the body."""

    blocks: tuple[For, ...]
    shared: Body
    threads: tuple[For, ...]
    kernel: Body


def take_apart(launch: Launch) -> LaunchParts:
    """Raises UnsupportedError when the launch is not the nest that ``Launch`` documents."""
    blocks: list[For] = []
    body = launch.body
    while len(body) == 1 and isinstance(body[0], For) and body[0].axis is not None and body[0].axis.is_block:
        blocks.append(body[0])
        body = body[0].body
    shared = body[:-1]
    threads: list[For] = []
    inner: Body = body[-1:]
    while len(inner) == 1 and isinstance(inner[0], For) and inner[0].axis is not None and inner[0].axis.is_thread:
        threads.append(inner[0])
        inner = inner[0].body
    if not threads or any(isinstance(s, For) and s.axis in _SIMT for s in walk(inner + shared)):
        raise UnsupportedError(f"launch of {launch.kernel} is not one nest of block loops around one nest of thread loops", launch.loc)
    return LaunchParts(tuple(blocks), shared, tuple(threads), inner)


_SIMT = frozenset(a for a in Axis if a.is_block or a.is_thread)


def put_together(launch: Launch, parts: LaunchParts) -> Launch:
    """The inverse of ``take_apart``."""
    body = parts.kernel
    for loop in reversed(parts.threads):
        body = (dataclasses.replace(loop, body=body),)
    body = parts.shared + body
    for loop in reversed(parts.blocks):
        body = (dataclasses.replace(loop, body=body),)
    return dataclasses.replace(launch, body=body)


def launches(module: Module) -> dict[str, Launch]:
    """All launches by site, in program order."""
    counts: dict[str, int] = {}
    found: dict[str, Launch] = {}
    for stmt in walk(module.body):
        if isinstance(stmt, Launch):
            counts[stmt.kernel] = counts.get(stmt.kernel, 0) + 1
            n = counts[stmt.kernel]
            found[stmt.kernel if n == 1 else f"{stmt.kernel}~{n}"] = stmt
    return found


def replace_launch(module: Module, launch: Launch, new: Body) -> Module:
    return dataclasses.replace(module, body=replace_stmt(module.body, launch, new))
