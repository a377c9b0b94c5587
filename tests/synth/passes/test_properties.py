"""Random legal applications on random programs preserve what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synth.ir import interpreter, verifier
from synth.ir.grammar import Module
from synth.lowering.vnni import default_lowering
from synth.passes.registry import get
from synth.passes.trace import parse_trace, print_trace, replay
from tests.synth.ir import strategies
from tests.synth.passes.nests import LARGEST, nests
from tests.synth.passes.programs import SPEC, inputs

PASSES = (
    "simplify",
    "unroll",
    "loop_split",
    "loop_fuse",
    "loop_reorder",
    "loop_expansion",
    "loop_contraction",
    "loop_distribute",
    "counted_while",
    "induction",
    "jam",
    "promote",
    "privatize",
    "serialize",
    "spill",
    "extremum",
)
SCHEDULING = ("parallelize", "vectorize", "simd", "contract_fma")
FEW = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)


def modules() -> st.SearchStrategy[Module]:
    """Nests as kernels have them, and programs of all sorts."""
    return st.one_of(nests(), nests(), strategies.modules(floats=False))


def outputs(m: Module, seed: int) -> dict[str, Any]:
    sizes = np.random.default_rng(seed).integers(0, LARGEST + 1, 2)
    is_nest = {p.sym.name for p in m.params} == {"A", "B", "C", "n", "m"}
    args = inputs(m, {"n": int(sizes[0]), "m": int(sizes[1])}, seed) if is_nest else strategies.arguments(m, seed)
    interpreter.run(m, args)
    return {k: v for k, v in args.items() if isinstance(v, np.ndarray)}


def assert_preserved(before: Module, after: Module, seed: int, reals: bool) -> None:
    verifier.check(after)
    a, b = outputs(before, seed), outputs(after, seed)
    for name, value in a.items():
        if reals and value.dtype.kind == "f":
            np.testing.assert_allclose(b[name], value, rtol=1e-3, atol=1e-3, equal_nan=True)
        else:
            np.testing.assert_array_equal(b[name], value)


@pytest.mark.parametrize("name", PASSES + SCHEDULING)
@FEW
@given(data=st.data(), seed=st.integers(0, 9))
def test_every_legal_application_preserves_meaning(name: str, data: st.DataObject, seed: int) -> None:
    m = data.draw(modules())
    candidates = get(name).space(m, SPEC)
    if not candidates:
        return
    step = data.draw(st.sampled_from(candidates))
    verdict = step.check(m, SPEC)
    if verdict:
        assert_preserved(m, step.apply(m, SPEC), seed, bool(getattr(verdict, "assuming", ())))


@FEW
@given(m=modules(), seed=st.integers(0, 9), data=st.data())
def test_random_sequences_preserve_meaning_and_replay(m: Module, seed: int, data: st.DataObject) -> None:
    now, trace, reals = m, [], False
    for _ in range(4):
        steps = [s for name in PASSES for s in get(name).space(now, SPEC)]
        if not steps:
            break
        step = data.draw(st.sampled_from(steps))
        verdict = step.check(now, SPEC)
        if verdict:
            reals = reals or bool(getattr(verdict, "assuming", ()))
            now = step.apply(now, SPEC)
            trace.append(step)
    assert_preserved(m, now, seed, reals)
    assert parse_trace(print_trace(trace)) == tuple(trace)
    replay(trace, m, SPEC)


@FEW
@given(m=modules(), seed=st.integers(0, 9))
def test_the_default_lowering_preserves_meaning(m: Module, seed: int) -> None:
    lowered, trace = default_lowering(m, SPEC)
    assert_preserved(m, lowered, seed, True)
    again = replay(parse_trace(print_trace(trace)), m, SPEC)
    assert outputs(again, seed).keys() == outputs(lowered, seed).keys()
