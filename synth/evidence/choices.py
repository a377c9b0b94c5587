"""Which sizes tests use when they are parameters of the entry: multiples, primes, one, within budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from synth.errors import UnsupportedError
from synth.evidence.sizes import Scalars, size_parameters, try_value
from synth.evidence.work import estimated_work
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Const, Module, Var
from synth.ir.traversal import walk_expr

COUNT = 5
MAX_BYTES_CHOSEN = 8 << 20
MAX_WORK_CHOSEN = 1 << 24
TRIES = 400
# Tried first, by the number of size parameters (the last row serves for more, repeated).
FIRST: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((1024,), (1000,), (4099,), (1,), (257,)),
    ((64, 128), (37, 53), (100, 257), (1, 1), (33, 1030)),
    ((64, 64, 64), (37, 53, 29), (128, 96, 64), (1, 1, 1), (33, 17, 65)),
    ((16, 32, 16, 32), (3, 37, 5, 29), (2, 64, 8, 16), (1, 1, 1, 1), (5, 33, 17, 7)),
)
MENU = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 100)
SMALL_MENU = (1, 2, 3, 4, 5)


def size_choices(module: Module, binds: Scalars) -> list[dict[str, int]]:
    """Assignments of the size parameters that are not bound: one (empty) when there are none.

    An assignment is taken when every extent is positive, what the module assumes holds, and it stays within ``MAX_BYTES_CHOSEN`` of
    buffers and ``MAX_WORK_CHOSEN`` statements. Raises UnsupportedError when none is found.
    """
    free = [name for name in size_parameters(module) if name not in binds]
    if not free:
        return [{}]
    _refuse_foreign_symbols(module)
    others = {p.sym.name: 1 for p in module.params if not p.is_buffer} | _assumed(module)
    found: list[dict[str, int]] = []
    for values in _proposals(len(free)):
        sizes = dict(zip(free, values, strict=True))
        if sizes not in found and _fits(module, {**others, **binds, **sizes}):
            found.append(sizes)
        if len(found) == COUNT:
            break
    if not found:
        names = ", ".join(free)
        raise UnsupportedError(f"no values of {names} make a test of acceptable size", hint=f"give them with --bind {free[0]}=VALUE")
    return found


def _assumed(module: Module) -> dict[str, int]:
    """Values that the module assumes of scalar parameters (a handle is 0)."""
    found: dict[str, int] = {}
    for fact in module.assumes:
        if isinstance(fact, Binary) and fact.op == "eq" and isinstance(fact.a, Var) and isinstance(fact.b, Const):
            found[fact.a.sym.name] = int(fact.b.value)
    return found


def _refuse_foreign_symbols(module: Module) -> None:
    scalars = {p.sym for p in module.params if not p.is_buffer}
    for p in module.params:
        for e in walk_expr(p.shape[0]) if p.shape else ():
            if isinstance(e, Var) and e.sym not in scalars:
                raise UnsupportedError(
                    f"the extent of parameter '{p.sym.name}' depends on '{e.sym.name}', which is no scalar parameter",
                    hint=f"give it with --extent {p.sym.name}=EXPR",
                )


def _proposals(count: int) -> Iterator[tuple[int, ...]]:
    for values in FIRST[min(count, len(FIRST)) - 1]:
        yield tuple(values[i % len(values)] for i in range(count))
    rng = np.random.default_rng(count)
    for attempt in range(TRIES):
        menu: Sequence[int] = MENU if attempt % 2 == 0 else MENU + SMALL_MENU * 4
        yield tuple(int(rng.choice(menu)) for _ in range(count))


def _fits(module: Module, scalars: Scalars) -> bool:
    total = 0
    for p in module.params:
        if p.is_buffer and p.shape:
            count = try_value(p.shape[0], scalars)
            if count is None or count < 1:
                return False
            total += count * p.dtype.bytes
    if any(e.type is DType.BOOL and try_value(e, scalars) == 0 for e in module.assumes):
        return False
    return total <= MAX_BYTES_CHOSEN and estimated_work(module, scalars) <= MAX_WORK_CHOSEN
