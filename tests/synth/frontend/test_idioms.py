"""Whole files in the idioms of public code, read and run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from synth.ir.dtypes import DType
from synth.ir.grammar import Const
from synth.ir.text import print_expr

SAMPLES = Path(__file__).parent / "samples"


def floats(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def sample(name):
    return (SAMPLES / name).read_text()


def test_vector_add_with_goto_error(cuda, execute):
    """The project template of Visual Studio: status variable, ``goto Error``, assertions around calls."""
    module = cuda(sample("vector_add_goto.cu")).module
    assert (module.name, module.result) == ("addWithCuda", Const(0, DType.U32))
    a, b, c = np.arange(9, dtype=np.int32), np.arange(9, dtype=np.int32) * 10, np.zeros(9, np.int32)
    execute(module, c=c, a=a, b=b, size=9)
    np.testing.assert_array_equal(c, a + b)


def test_functors_templates_and_exceptions(cuda, execute):
    module = cuda(sample("scale_functor.cu")).module
    x, y = floats(300), np.zeros(300, np.float32)
    execute(module, x=x, y=y, n=300, s=3.0)
    np.testing.assert_array_equal(y, x * np.float32(3))


@pytest.mark.parametrize("threads", [32, 64])
def test_dispatch_over_block_sizes_and_a_global_pointer(cuda, execute, threads):
    module = cuda(sample("reduce_dispatch.cu")).module
    assert module.result == Const(True, DType.BOOL)
    x, out = floats(100), np.zeros(1, np.float32)
    execute(module, x=x, out=out, n=100, threads=threads)
    np.testing.assert_allclose(out, x.sum(), rtol=1e-5)


def test_a_tiled_product_with_uploads(cuda, execute):
    module = cuda(sample("gemm_tiled.cu"), defines={"M": "32"}).module
    a, b, c = floats(32 * 16), floats(16 * 32, 1), np.zeros(32 * 32, np.float32)
    execute(module, A=a, B=b, C=c)
    np.testing.assert_allclose(c.reshape(32, 32), a.reshape(32, 16) @ b.reshape(16, 32), rtol=1e-4, atol=1e-5)


def test_a_dispatch_that_exits_is_an_assumption(cuda):
    read = cuda(sample("groups_dispatch.cu"))
    assert [print_expr(e) for e in read.module.assumes] == ["((which:i32 == 0i32) || (which:i32 == 1i32))"]
    bound = cuda(sample("groups_dispatch.cu"), binds={"which": 1}).module
    assert [s.kernel for s in bound.body] == ["b"]
