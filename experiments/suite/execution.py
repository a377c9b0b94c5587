"""Running a program of the suite on given inputs, outside of the product's own evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from devices.device import Program
from devices.registry import find_device
from devices.status import Status
from experiments.suite.references import Array, dtypes, error, expected, make_inputs, tolerance
from experiments.suite.registry import Case
from experiments.suite.shapes import find_operator
from synth.evidence.cases import BufferArg, ScalarArg, TestCase
from synth.ir import builder
from synth.ir.dtypes import DType
from synth.ir.grammar import Param, Role, Sym

SUFFIXES = {"cuda": ".cu", "hip": ".hip", "vnni": ".c"}  # of a translated text


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a program compares with the numpy reference: ``error`` is relative to the output's scale, the worst over the inputs tried;
    ``allowed`` is the largest that counts as rounding."""

    status: Status
    error: float
    reason: str = ""
    allowed: float = 0.0

    @property
    def right(self) -> bool:
        return self.status is Status.OK and self.error <= self.allowed


def parameters(case: Case) -> tuple[Param, ...]:
    """The signature of a case's entry: inputs, the output, then the scalar sizes as ints."""
    operator = find_operator(case.operator)
    extents = operator.extents(case.dims)
    types = dtypes(case.operator, case.data)
    params = []
    for name in (*operator.inputs, operator.output):
        count = builder.const(int(np.prod(extents[name])), DType.I64)
        role = Role.OUT if name == operator.output else Role.IN
        params.append(Param(Sym(name), types[name], (count,), role=role, const=role is Role.IN))
    return (*params, *(Param(Sym(name), DType.I32) for name in case.binds))


def call(case: Case, inputs: dict[str, Array], seed: int) -> TestCase:
    """One call of a case's entry."""
    operator = find_operator(case.operator)
    extents = operator.extents(case.dims)
    types = dtypes(case.operator, case.data)
    args: list[BufferArg | ScalarArg] = []
    for name in (*operator.inputs, operator.output):
        role = Role.OUT if name == operator.output else Role.IN
        data = inputs[name].reshape(-1) if role is Role.IN else None
        args.append(BufferArg(name, types[name], int(np.prod(extents[name])), role, data))
    args += [ScalarArg(name, DType.I32, value) for name, value in case.binds.items()]
    return TestCase(case.entry, tuple(args), "random", seed)


def judge(case: Case, text: str, dialect: str, seeds: Sequence[int] = (1,), timeout: float = 120.0) -> Judgement:
    """``judge_on`` random inputs, one for each seed."""
    return judge_on(case, text, dialect, [make_inputs(case.operator, case.dims, seed, case.data) for seed in seeds], timeout)


def judge_on(case: Case, text: str, dialect: str, inputs: Sequence[dict[str, Array]], timeout: float = 120.0) -> Judgement:
    """Builds and runs ``text`` (the case's source, a mutant or a translation of it) and compares it with the reference.

    ``inputs`` are tensors by argument name; ``timeout`` is seconds for all of them together.
    """
    device = find_device(dialect)
    own = dialect == case.dialect
    name = case.source.name if own else case.source.stem + SUFFIXES[dialect]
    build = device.build(Program(text, dialect, case.entry, parameters(case), case.defines if own else {}, filename=name))
    if build.status is not Status.OK:
        return Judgement(build.status, float("inf"), build.log)
    calls = tuple(call(case, values, number) for number, values in enumerate(inputs))
    worst = 0.0
    for run, values in zip(device.run(build, calls, timeout), inputs, strict=True):
        if run.status is not Status.OK:
            return Judgement(run.status, float("inf"), run.log)
        reference = expected(case.operator, values, case.dims)
        worst = max(worst, error(run.outputs[find_operator(case.operator).output], reference))
    return Judgement(Status.OK, worst, allowed=tolerance(case.operator, case.data))
