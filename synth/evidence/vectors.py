"""Unit tests from the source alone: which arguments to call the entry with.

Extents and roles come from the module's parameters; values of size parameters from ``--bind`` or from several choices; integer buffers that
index other buffers hold valid indexes.
"""

from __future__ import annotations

import zlib

import numpy as np

from synth.errors import UnsupportedError
from synth.evidence.cases import BufferArg, ScalarArg, TestCase
from synth.evidence.families import FAMILIES, contents
from synth.evidence.sizes import size_choices, size_parameters, value_of
from synth.ir.dtypes import DType
from synth.ir.grammar import Call, Expr, Let, Load, Module, Param, Region, Role, Store, Sym, Var
from synth.ir.traversal import all_exprs, region_exprs, walk, walk_expr
from synth.source import ReadOptions

MAX_BYTES = 1 << 30
OTHER_INTEGERS = (2, 1, 3)  # values tried for integer parameters that size nothing
FLOAT_VALUES = (0.75, -1.5, 0.0)
Value = int | float | bool


def synthesise(module: Module, options: ReadOptions, seed: int) -> tuple[TestCase, ...]:
    """The test cases of an entry. Precondition: every pointer's extent is known (``complete_params``).

    Raises UnsupportedError naming a parameter whose value or extent cannot be chosen, or when the buffers exceed ``MAX_BYTES``.
    """
    cases: list[TestCase] = []
    for number, sizes in enumerate(size_choices(module, options.binds)):
        families = list(FAMILIES) if number == 0 else ["random"]
        for repeat, family in enumerate([*families, *(["random"] if number == 0 else [])]):
            scalars = _scalars(module, options, sizes, repeat)
            case_seed = seed * 1000003 + number * 101 + repeat
            cases.append(_case(module, scalars, family, case_seed, optional=bool(sizes)))
    return tuple(cases)


def _scalars(module: Module, options: ReadOptions, sizes: dict[str, int], repeat: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    sizing = set(size_parameters(module))
    for p in module.params:
        if p.is_buffer:
            continue
        name = p.sym.name
        if name in options.binds:
            values[name] = options.binds[name]
        elif name in sizes:
            values[name] = sizes[name]
        elif p.dtype is DType.BOOL:
            values[name] = repeat % 2 == 0
        elif p.dtype.is_float:
            values[name] = FLOAT_VALUES[repeat % len(FLOAT_VALUES)]
        elif name not in sizing:
            values[name] = OTHER_INTEGERS[repeat % len(OTHER_INTEGERS)]
    return values


def _case(module: Module, scalars: dict[str, Value], family: str, seed: int, optional: bool) -> TestCase:
    indexing = index_limits(module, scalars)
    args: list[BufferArg | ScalarArg] = []
    total = 0
    for p in module.params:
        name = p.sym.name
        if not p.is_buffer:
            args.append(ScalarArg(name, p.dtype, scalars[name]))
            continue
        count = _count(p, scalars)
        total += count * p.dtype.bytes
        if total > MAX_BYTES:
            raise UnsupportedError(
                f"the buffers of '{module.name}' exceed {MAX_BYTES >> 20} MiB", hint="scale the sizes down with -D or --bind"
            )
        rng = np.random.default_rng((seed, zlib.crc32(name.encode())))
        data = None if p.role is Role.OUT else contents(family, p.dtype, count, rng, indexing.get(p.sym))
        args.append(BufferArg(name, p.dtype, count, p.role, data))
    sizes = {name: int(scalars[name]) for name in scalars if isinstance(scalars[name], int)}
    return TestCase(module.name, tuple(args), family, seed, sizes, optional)


def _count(p: Param, scalars: dict[str, Value]) -> int:
    if not p.shape:
        raise UnsupportedError(f"the extent of parameter '{p.sym.name}' is unknown", hint=f"give it with --extent {p.sym.name}=EXPR")
    count = value_of(p.shape[0], scalars)
    if count < 0:
        raise UnsupportedError(f"the extent of parameter '{p.sym.name}' is negative", hint="give other values with --bind")
    return count


def index_limits(module: Module, scalars: dict[str, Value]) -> dict[Sym, int]:
    """For integer buffers whose elements index other buffers: the smallest extent that they index."""
    params = {p.sym: p for p in module.params if p.is_buffer}
    lets = {s.sym: s.value for s in walk(module.body) if isinstance(s, Let)}
    limits: dict[Sym, int] = {}

    def note(index: Expr, target: Sym) -> None:
        seen: set[Sym] = set()
        waiting = [index]
        while waiting:
            for e in walk_expr(waiting.pop()):
                if isinstance(e, Load) and e.buf in params and e.buf != target and params[e.buf].dtype.is_int and target in params:
                    extent = _count(params[target], scalars)
                    limits[e.buf] = min(limits.get(e.buf, extent), extent)
                elif isinstance(e, Var) and e.sym in lets and e.sym not in seen:
                    seen.add(e.sym)
                    waiting.append(lets[e.sym])

    for e in all_exprs(module.body):
        if isinstance(e, Load):
            for i in e.index:
                note(i, e.buf)
    for s in walk(module.body):
        if isinstance(s, Store):
            for i in s.index:
                note(i, s.buf)
        elif isinstance(s, Call):
            for r in (*s.dests, *(a for a in s.args if isinstance(a, Region))):
                for i in region_exprs(r):
                    note(i, r.buf)
    return limits
