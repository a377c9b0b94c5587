"""How much an output depends on the last bits of its inputs: what no comparison can tell from an error.

A sum of large terms that cancel, or an exponential of such a sum, differs between two right programs by more than a tolerance relative to
the output: each computes the exact result for inputs that are a few roundings off. How far such inputs move the *source's own* output is
measured, by running it on them, and is allowed on top of the tolerance, element by element. Signs and zeros of the inputs stay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from synth.evidence.cases import Array, BufferArg, ScalarArg, TestCase
from synth.evidence.compare import as_float
from synth.ir.dtypes import DType

ROUNDINGS = 4  # by how many units in the last place inputs are moved
SAMPLES = 3
FACTOR = 8.0  # one sample may move an element by less than others would; a sum of n terms rounds sqrt(n) times
UNIT = {DType.F64: 2.0**-53, DType.F32: 2.0**-24, DType.F16: 2.0**-11}


def neighbours(case: TestCase) -> tuple[TestCase, ...]:
    """The case with its float inputs moved by a few units in the last place, at random but by the case's own seed."""
    return tuple(dataclasses.replace(case, args=tuple(_moved(arg, case.seed, sample) for arg in case.args)) for sample in range(SAMPLES))


def _moved(arg: BufferArg | ScalarArg, seed: int, sample: int) -> BufferArg | ScalarArg:
    if not isinstance(arg, BufferArg) or arg.data is None or arg.dtype not in UNIT:
        return arg
    rng = np.random.default_rng((seed, sample, arg.count))
    factors = 1.0 + ROUNDINGS * UNIT[arg.dtype] * rng.choice([-1.0, 1.0], arg.data.size)
    return dataclasses.replace(arg, data=(arg.data.astype(np.float64) * factors).astype(arg.data.dtype))


def slack(reference: dict[str, Array], moved: Sequence[dict[str, Array]], case: TestCase) -> dict[str, Array]:
    """What is allowed on top of the tolerance, by float buffer and element; nothing where a neighbour is no number."""
    found: dict[str, Array] = {}
    for arg in case.args:
        if not isinstance(arg, BufferArg) or not arg.dtype.is_float:
            continue
        own = as_float(reference[arg.name], arg.dtype)
        with np.errstate(invalid="ignore"):
            distances = [np.abs(as_float(outputs[arg.name], arg.dtype) - own) for outputs in moved]
        found[arg.name] = FACTOR * np.max(np.stack([np.where(np.isfinite(d), d, 0.0) for d in distances]), axis=0)
    return found
