"""Emitted programs compute what the interpreter says, with AVX-512 and without."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from synth.codegen import emit
from synth.ir import interpreter
from synth.ir.text import print_module
from synth.spec import SPECS
from tests.synth.codegen.native import PORTABLE, call, compile_text, equal
from tests.synth.ir.strategies import arguments, copied, modules


def drawn(count: int, vectors: bool, start: int) -> list:
    """``count`` generated modules with names of their own, always the same ones: one compiler run for all."""
    found: list = []

    @seed(start)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(modules(vectors=vectors))
    def collect(module):
        found.append(dataclasses.replace(module, name=f"f{len(found)}"))

    collect()
    return found


@pytest.mark.parametrize(
    ("vectors", "flags", "start"),
    [(False, (), 1), (True, (), 2), (True, PORTABLE, 3)],
    ids=["serial", "vectors", "vectors_without_avx512"],
)
def test_emitted_text_means_what_the_interpreter_says(tmp_path, vectors, flags, start):
    chosen = drawn(8, vectors, start)
    library = compile_text({m.name: emit(m, SPECS["avx512_vnni"]) for m in chosen}, tmp_path, *flags)
    for k, module in enumerate(chosen):
        expected = arguments(module, k)
        got = copied(expected)
        interpreter.run(module, expected)
        call(library, module, got)
        for name, value in expected.items():
            if isinstance(value, np.ndarray):
                assert equal(value, got[name]), f"{name}\n{print_module(module)}"
