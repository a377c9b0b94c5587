"""Variables that a ``while`` loop steps by the same amount in every iteration: pointers that walk, counters that run down.

At the start of iteration ``k`` such a variable is ``start + k * step``, with one ``k`` for all variables of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from synth.analysis.polynomial import atom_poly
from synth.analysis.ranges import Range
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Continue, Expr, For, Let, Load, Store, Sym, Var, While
from synth.ir.traversal import bodies, substitute_expr, walk, walk_expr, written_buffers

if TYPE_CHECKING:
    from synth.analysis.env import Env


# Each iteration that reaches the next one runs the whole body, since nothing continues; a variable that is stored to once, on the top
# level, by x = x + c has then been stepped exactly once.
def in_iteration(env: Env, loop: While) -> Env:
    """What holds at the start of every iteration of a loop, before its condition; ``env`` holds where the loop is reached."""
    changed = written_buffers(loop.body)
    steps = _steps(env, loop.body) if env.tracked and not _continues(loop.body) else {}
    if not steps:
        return env.forget(changed)
    trips = Sym("trips")
    inside = env
    cells: dict[Sym, Load] = {}
    for buf, (cell, _) in steps.items():
        start = Let(Sym(f"{buf.name}.start"), cell)
        cells[start.sym] = cell
        inside = inside.with_let(start)
    # The count is a value of its own in every execution of the loop, as a definition that nobody looks into.
    opaque = {**inside.lets, trips: next(iter(cells.values()))}
    inside = inside.extended(lets=opaque, ranges={**inside.ranges, trips: Range(0, None)}).forget(changed)
    k = atom_poly(Var(trips, DType.I64))
    for start_sym, cell in cells.items():
        here = atom_poly(cell) - atom_poly(Var(start_sym, cell.type)) - k.scaled(steps[cell.buf][1])
        inside = inside.with_nonnegative(here).with_nonnegative(-here)
    return inside


def _steps(env: Env, body: Body) -> dict[Sym, tuple[Load, int]]:
    """The variables that are stepped, with their loads and steps."""
    written = [s.buf for s in walk(body) if isinstance(s, Store)]
    lets: dict[Sym, Expr] = {}
    found: dict[Sym, tuple[Load, int]] = {}
    for stmt in body:
        if isinstance(stmt, Let):
            lets[stmt.sym] = stmt.value
        elif isinstance(stmt, Store) and stmt.buf in env.tracked and not stmt.index and written.count(stmt.buf) == 1:
            step = _step(env, stmt, lets)
            if step is not None:
                found[stmt.buf] = step
    return found


def _step(env: Env, store: Store, lets: Mapping[Sym, Expr]) -> tuple[Load, int] | None:
    value = store.value
    for _ in range(4):
        if not any(isinstance(e, Var) and e.sym in lets for e in walk_expr(value)):
            break
        value = substitute_expr(value, lets)
    loads = {e for e in walk_expr(value) if isinstance(e, Load)}
    cell = Load(store.buf, (), value.type)
    if loads != {cell}:
        return None
    step = (env.normal(value) - atom_poly(cell)).constant
    return None if step is None else (cell, step)


def _continues(body: Body) -> bool:
    """Whether a ``continue`` belongs to the loop whose body this is."""
    return any(isinstance(s, Continue) or (not isinstance(s, For | While) and any(_continues(b) for b in bodies(s))) for s in body)
