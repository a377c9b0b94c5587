"""Random programs, lowered, printed and compiled, compute what the interpreter says of the originals."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from synth.codegen import emit
from synth.ir import interpreter
from synth.ir.grammar import Module
from synth.ir.text import print_module
from synth.lowering.vnni import default_lowering
from tests.synth.codegen.native import call, compile_text
from tests.synth.passes.nests import LARGEST, nests
from tests.synth.passes.programs import SPEC, inputs

COUNT = int(os.environ.get("XPILER_FUZZ_COUNT", "8"))
START = int(os.environ.get("XPILER_FUZZ_SEED", "1"))
SIZES = ((0, 3), (1, 0), (LARGEST, 7), (16, LARGEST))


def drawn(count: int, start: int) -> list[Module]:
    """``count`` programs with names of their own, the same ones for the same ``start``."""
    found: list[Module] = []

    @seed(start)
    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(nests())
    def collect(module: Module) -> None:
        found.append(dataclasses.replace(module, name=f"f{len(found)}"))

    collect()
    return found


def test_lowered_and_compiled_nests_compute_what_the_originals_do(tmp_path: Path) -> None:
    originals = drawn(COUNT, START)
    lowered = {m.name: default_lowering(m, SPEC)[0] for m in originals}
    library = compile_text({name: emit(m, SPEC) for name, m in lowered.items()}, tmp_path)
    for module in originals:
        for number, (n, m) in enumerate(SIZES):
            expected = inputs(module, {"n": n, "m": m}, number)
            got = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in expected.items()}
            interpreter.run(module, expected)
            call(library, module, got)
            for name, value in expected.items():
                if isinstance(value, np.ndarray):
                    np.testing.assert_allclose(got[name], value, rtol=1e-3, atol=1e-3, err_msg=f"{name}\n{print_module(module)}")
