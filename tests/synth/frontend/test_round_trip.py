"""What the vnni printer writes is read back as the same program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from synth.spec import SPECS

SAMPLES = Path(__file__).parent / "samples"
codegen = pytest.importorskip("synth.codegen")


@pytest.mark.parametrize("name", ["softmax_omp.cpp", "vectors.cpp"])
def test_printing_and_reading_is_stable(c, name):
    if not hasattr(codegen, "emit"):
        pytest.skip("the printer has not landed")
    from synth.ir.hashing import structural_hash

    spec = SPECS["avx512_vnni"]
    once = c(codegen.emit(c((SAMPLES / name).read_text()).module, spec)).module
    twice = c(codegen.emit(once, spec)).module
    assert structural_hash(once) == structural_hash(twice)


def test_vectors_keep_their_meaning(c, execute):
    if not hasattr(codegen, "emit"):
        pytest.skip("the printer has not landed")
    first = c((SAMPLES / "vectors.cpp").read_text()).module
    second = c(codegen.emit(first, SPECS["avx512_vnni"])).module
    results = []
    for module in (first, second):
        x = np.linspace(-2, 2, 40, dtype=np.float32)
        y, k, o = np.zeros(40, np.float32), np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
        execute(module, x=x, y=y, k=k, o=o, n=40)
        results.append((y, o))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
