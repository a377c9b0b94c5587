"""The threads of one block as Python generators: each runs until it must wait for others, then whoever is complete goes on.

A generator yields a ``Wait`` and is sent the result. The rules (CUDA C++ Programming Guide, "Synchronization Functions", "Warp Vote
Functions", "Warp Shuffle Functions"): a block barrier and a warp barrier wait for all live threads of their scope, at the same statement;
a warp operation waits for the live lanes that its mask names, at the same statement with the same mask. What never completes is
divergence.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from synth.ir.grammar import Call, Scope, Sync
from synth.ir.memory import InterpreterError


@dataclass(frozen=True, slots=True)
class Wait:
    """What a thread waits at, with the values it brings."""

    stmt: Sync | Call
    args: tuple[Any, ...] = ()


Thread = Generator[Wait, Any, Any]


def run_block(threads: list[Thread], warp_size: int, released: Callable[[], None] = lambda: None) -> None:
    """Runs the threads of a block, by linear thread index, to their ends. ``released`` is called after each block barrier."""
    live = dict(enumerate(threads))
    waiting: dict[int, Wait] = {}
    results: dict[int, Any] = dict.fromkeys(live)
    while live:
        for index, result in sorted(results.items()):
            try:
                waiting[index] = live[index].send(result)
            except StopIteration:
                del live[index]
        results = _complete_warps(waiting, live.keys(), warp_size)
        if not results and waiting:
            results = _complete_block(waiting)
            released()
        for index in results:
            del waiting[index]


def _complete_block(waiting: dict[int, Wait]) -> dict[int, Any]:
    statements = {id(w.stmt): w.stmt for w in waiting.values()}
    first = next(iter(waiting.values())).stmt
    if len(statements) == 1 and isinstance(first, Sync) and first.scope is Scope.BLOCK:
        return dict.fromkeys(waiting)
    places = sorted({f"{_name(s)} at {s.loc or 'an unknown place'}" for s in statements.values()})
    raise InterpreterError("divergence", "threads of a block wait for each other: " + " and ".join(places), first.loc)


def _name(stmt: Sync | Call) -> str:
    return stmt.op if isinstance(stmt, Call) else f"sync {stmt.scope.value}"


def _complete_warps(waiting: dict[int, Wait], live: Any, warp_size: int) -> dict[int, Any]:
    """Results for the threads of every complete warp operation."""
    warps: dict[tuple[int, int], list[int]] = {}
    for index, wait in waiting.items():
        if isinstance(wait.stmt, Call) or wait.stmt.scope is Scope.WARP:
            warps.setdefault((index // warp_size, id(wait.stmt)), []).append(index)
    results: dict[int, Any] = {}
    for (warp, _), group in warps.items():
        stmt = waiting[group[0]].stmt
        lanes = {index % warp_size: waiting[index].args for index in group}
        living = {index % warp_size for index in live if index // warp_size == warp}
        if isinstance(stmt, Sync):
            found: dict[int, Any] = dict.fromkeys(lanes) if lanes.keys() == living else {}
        elif stmt.op == "warp.activemask":
            mask = sum(1 << lane for lane in lanes)
            found = dict.fromkeys(lanes, mask)
        else:
            found = _complete_masked(stmt, lanes, living, warp_size)
        results |= {warp * warp_size + lane: result for lane, result in found.items()}
    return results


def _complete_masked(stmt: Call, lanes: dict[int, tuple[Any, ...]], living: set[int], warp_size: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for lane, args in lanes.items():
        mask = args[0]
        if not mask >> lane & 1:
            raise InterpreterError(
                "divergence", f"lane {lane} calls {stmt.op} with the mask {mask & ((1 << warp_size) - 1):#x}, which leaves it out", stmt.loc
            )
        members = {m for m in living if mask >> m & 1}
        if all(m in lanes and lanes[m][0] == mask for m in members):
            found[lane] = _result(stmt.op, lane, {m: lanes[m] for m in members}, warp_size)
    return found


def _result(op: str, lane: int, members: dict[int, tuple[Any, ...]], warp_size: int) -> Any:
    """The result of a lane; None (undefined) where a shuffle reads from a lane that does not take part."""
    if op == "warp.sync":
        return None
    if op == "warp.all":
        return all(args[1] for args in members.values())
    if op == "warp.any":
        return any(args[1] for args in members.values())
    if op == "warp.ballot":
        return sum(1 << m for m, args in members.items() if args[1])
    _, own, operand, width = members[lane]
    source = _source(op, lane, operand & (warp_size - 1), width)
    if source is None:
        return own
    return members[source][1] if source in members else None


def _source(op: str, lane: int, operand: int, width: int) -> int | None:
    """The lane that a shuffle reads from; None: its own value (PTX ISA, "shfl.sync")."""
    first = lane - lane % width
    last = first + width - 1
    match op:
        case "warp.shfl":
            return first + operand % width
        case "warp.shfl_up":
            return lane - operand if lane - operand >= first else None
        case "warp.shfl_down":
            return lane + operand if lane + operand <= last else None
        case _:
            return lane ^ operand if lane ^ operand <= last else None
