"""Unit tests from the source alone: which arguments to call the entry with.

Extents and roles come from the module's parameters; values of size parameters from ``--bind`` or from several choices; integer buffers that
index other buffers hold valid indexes.
"""

from __future__ import annotations

import zlib

import numpy as np

from synth.errors import UnsupportedError, UsageError
from synth.evidence.cases import NUMPY_DTYPES, Array, BufferArg, ScalarArg, TestCase
from synth.evidence.choices import size_choices
from synth.evidence.families import FAMILIES, REPEATED, contents
from synth.evidence.indexing import index_rules
from synth.evidence.sizes import size_parameters, value_of
from synth.evidence.work import estimated_work
from synth.ir.dtypes import DType
from synth.ir.grammar import Module, Param, Role
from synth.source import ReadOptions

MAX_BYTES = 512 << 20  # of one call
# Of all families together; the first MIN_FAMILIES are tried in any case.
MAX_BYTES_FAMILIES = 64 << 20
MAX_WORK_FAMILIES = 1 << 28
MIN_FAMILIES = 2
OTHER_INTEGERS = (2, 1, 3)  # values tried for integer parameters that size nothing
FLOAT_VALUES = (0.75, -1.5, 0.0)
Value = int | float | bool


def synthesise(module: Module, options: ReadOptions, seed: int) -> tuple[TestCase, ...]:
    """The test cases of an entry. Precondition: every pointer's extent is known (``complete_params``).

    The first sizes are tried with every family of inputs that the budget allows, each further choice of sizes with two. Cases whose
    sizes or integers were chosen here are optional. Raises UnsupportedError naming a parameter whose value or extent cannot be chosen, or
    when the buffers of a call exceed ``MAX_BYTES``.
    """
    _refuse_unknown(module)
    _refuse_strangers(module, options)
    cases: list[TestCase] = []
    for number, sizes in enumerate(size_choices(module, options.binds)):
        families = _families(module, options, sizes) if number == 0 else list(FAMILIES)[:MIN_FAMILIES]
        for repeat, family in enumerate(families):
            scalars = _scalars(module, options, sizes, repeat)
            case_seed = seed * 1000003 + number * 101 + repeat
            cases.append(_case(module, options, scalars, family, case_seed, optional=_chosen(module, options)))
    return tuple(cases)


def _refuse_unknown(module: Module) -> None:
    for p in module.params:
        if p.is_buffer and not p.shape:
            raise UnsupportedError(f"the extent of parameter '{p.sym.name}' is unknown", hint=f"give it with --extent {p.sym.name}=EXPR")


def _refuse_strangers(module: Module, options: ReadOptions) -> None:
    buffers = [p.sym.name for p in module.params if p.is_buffer]
    for name in options.values:
        if name not in buffers:
            raise UsageError(f"--values {name}: '{module.name}' has no such buffer", hint=f"its buffers are {', '.join(buffers)}")


def _chosen(module: Module, options: ReadOptions) -> bool:
    """Whether some integer parameter has a value of our choice, for which the source may not have been written."""
    return any(not p.is_buffer and p.dtype.is_int and p.sym.name not in options.binds for p in module.params)


def _families(module: Module, options: ReadOptions, sizes: dict[str, int]) -> list[str]:
    """The families that the budget allows at these sizes, the most telling first; some of them twice where there is room."""
    scalars = _scalars(module, options, sizes, 0)
    count = max(1, sum(_count(p, scalars) * p.dtype.bytes for p in module.params if p.is_buffer))
    allowed = min(MAX_BYTES_FAMILIES // count, MAX_WORK_FAMILIES // max(1, estimated_work(module, scalars)))
    return [*FAMILIES, *REPEATED][: max(MIN_FAMILIES, allowed)]


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


def _case(module: Module, options: ReadOptions, scalars: dict[str, Value], family: str, seed: int, optional: bool) -> TestCase:
    rules = index_rules(module, scalars)
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
        if name in options.values:
            data: Array | None = _given(p, count, options.values[name])
        else:
            data = None if p.role is Role.OUT else contents(family, p.dtype, count, rng, rules.get(p.sym))
        args.append(BufferArg(name, p.dtype, count, p.role, data))
    sizes = {name: int(scalars[name]) for name in scalars if isinstance(scalars[name], int)}
    return TestCase(module.name, tuple(args), family, seed, sizes, optional)


def _given(p: Param, count: int, values: tuple[int, ...]) -> Array:
    """The contents that the user gave. Raises UsageError where they are not those of the buffer."""
    option = f"--values {p.sym.name}"
    if not p.dtype.is_int or p.role is Role.OUT:
        raise UsageError(f"{option}: '{p.sym.name}' is no integer input", hint="give the contents of integer inputs only")
    if len(values) != count:
        raise UsageError(f"{option}: {len(values)} values for {count} elements", hint=f"give {count} values, or other sizes")
    if not all(p.dtype.min_int <= value <= p.dtype.max_int for value in values):
        raise UsageError(f"{option}: a value does not fit {p.dtype}", hint="give values of the buffer's type")
    return np.array(values, NUMPY_DTYPES[p.dtype])


def _count(p: Param, scalars: dict[str, Value]) -> int:
    count = value_of(p.shape[0], scalars) if p.shape else 0
    if count < 0:
        raise UnsupportedError(f"the extent of parameter '{p.sym.name}' is negative", hint="give other values with --bind")
    return count
