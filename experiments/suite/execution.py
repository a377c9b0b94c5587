"""Running a program of the suite on given inputs, outside of the product's own evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from devices.device import Program
from devices.registry import find_device
from devices.status import Status
from experiments.suite.references import TOLERANCE, Array, error, expected, make_inputs
from experiments.suite.registry import Case
from experiments.suite.shapes import OPERATORS
from synth.evidence.cases import BufferArg, ScalarArg, TestCase
from synth.ir import builder
from synth.ir.dtypes import DType
from synth.ir.grammar import Param, Role, Sym


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a program compares with the numpy reference: ``error`` is relative to the output's scale, the worst over the inputs tried."""

    status: Status
    error: float
    reason: str = ""

    @property
    def right(self) -> bool:
        return self.status is Status.OK and self.error <= TOLERANCE


def parameters(case: Case) -> tuple[Param, ...]:
    """The signature of a case's entry: inputs, the output, then the scalar sizes as ints."""
    operator = OPERATORS[case.operator]
    extents = operator.extents(case.dims)
    params = []
    for name in (*operator.inputs, operator.output):
        count = builder.const(int(np.prod(extents[name])), DType.I64)
        role = Role.OUT if name == operator.output else Role.IN
        params.append(Param(Sym(name), DType.F32, (count,), role=role, const=role is Role.IN))
    return (*params, *(Param(Sym(name), DType.I32) for name in case.binds))


def call(case: Case, inputs: dict[str, Array], seed: int) -> TestCase:
    """One call of a case's entry."""
    operator = OPERATORS[case.operator]
    extents = operator.extents(case.dims)
    args: list[BufferArg | ScalarArg] = []
    for name in (*operator.inputs, operator.output):
        role = Role.OUT if name == operator.output else Role.IN
        data = inputs[name].reshape(-1) if role is Role.IN else None
        args.append(BufferArg(name, DType.F32, int(np.prod(extents[name])), role, data))
    args += [ScalarArg(name, DType.I32, value) for name, value in case.binds.items()]
    return TestCase(case.entry, tuple(args), "random", seed)


def judge(case: Case, text: str, dialect: str, seeds: Sequence[int] = (1,), timeout: float = 120.0) -> Judgement:
    """``judge_on`` random inputs, one for each seed."""
    return judge_on(case, text, dialect, [make_inputs(case.operator, case.dims, seed) for seed in seeds], timeout)


def judge_on(case: Case, text: str, dialect: str, inputs: Sequence[dict[str, Array]], timeout: float = 120.0) -> Judgement:
    """Builds and runs ``text`` (the case's source, a mutant or a translation of it) and compares it with the reference.

    ``inputs`` are tensors by argument name; ``timeout`` is seconds for all of them together.
    """
    device = find_device(dialect)
    suffix = ".cu" if dialect == "cuda" else ".c"
    defines = case.defines if dialect == "cuda" else {}
    build = device.build(Program(text, dialect, case.entry, parameters(case), defines, filename=case.source.stem + suffix))
    if build.status is not Status.OK:
        return Judgement(build.status, float("inf"), build.log)
    calls = tuple(call(case, values, number) for number, values in enumerate(inputs))
    worst = 0.0
    for run, values in zip(device.run(build, calls, timeout), inputs, strict=True):
        if run.status is not Status.OK:
            return Judgement(run.status, float("inf"), run.log)
        worst = max(worst, error(run.outputs[OPERATORS[case.operator].output], expected(case.operator, values, case.dims)))
    return Judgement(Status.OK, worst)
