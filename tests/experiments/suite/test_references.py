import math

import numpy as np
import pytest

from experiments.suite.references import error, expected, make_inputs


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_gemm_by_hand() -> None:
    a, b = f32(1, 2, 3, 4).reshape(2, 2), f32(5, 6, 7, 8).reshape(2, 2)
    assert expected("gemm", {"A": a, "B": b}, {"M": 2, "K": 2, "N": 2}).tolist() == [[19, 22], [43, 50]]


def test_bmm_multiplies_each_batch() -> None:
    inputs = make_inputs("bmm", {"BATCH": 2, "M": 3, "K": 4, "N": 5}, 0)
    result = expected("bmm", inputs, {})
    assert np.allclose(result[1], inputs["A"][1].astype(float) @ inputs["B"][1].astype(float))


def test_softmax_by_hand() -> None:
    result = expected("softmax", {"A": f32(0, math.log(3)).reshape(1, 2)}, {})
    assert result[0].tolist() == pytest.approx([0.25, 0.75], abs=1e-7)


def test_layernorm_has_its_epsilon_outside_of_the_root() -> None:
    x = f32(-1e-5, 1e-5).reshape(1, 1, 2)  # mean 0, deviation 1e-5
    result = expected("layernorm", {"A": x, "gamma": f32(2, 4), "beta": f32(10, 20)}, {})
    assert result.reshape(-1).tolist() == pytest.approx([10 - 2 * 0.5, 20 + 4 * 0.5], rel=1e-6)


def test_gelu_by_hand() -> None:
    result = expected("gelu", {"A": f32(0, 1, -1)}, {})
    assert result.tolist() == pytest.approx([0, 0.841192, -0.158808], abs=1e-6)


def test_maxpool_by_hand() -> None:
    x = np.arange(25, dtype=np.float32).reshape(1, 5, 5, 1)
    assert expected("maxpool", {"A": x}, {"KERNEL": 2, "STRIDE": 2}).reshape(-1).tolist() == [6, 8, 16, 18]
    assert expected("maxpool", {"A": -x}, {"KERNEL": 5, "STRIDE": 1}).reshape(-1).tolist() == [0]


def test_conv2d_against_plain_loops() -> None:
    dims = {"BATCH": 2, "SIZE": 6, "IN_CHANNELS": 3, "OUT_CHANNELS": 4, "KERNEL": 2, "STRIDE": 3}
    inputs = make_inputs("conv2d", dims, 3)
    x, w = inputs["A"].astype(float), inputs["B"].astype(float)
    out = np.zeros((2, 2, 2, 4))
    for n, i, j, o in np.ndindex(*out.shape):
        out[n, i, j, o] = sum(x[n, 3 * i + a, 3 * j + b, c] * w[o, a, b, c] for a in range(2) for b in range(2) for c in range(3))
    assert np.allclose(expected("conv2d", inputs, dims), out)


def test_error_is_relative_to_the_output() -> None:
    assert error(f32(1, 9), np.array([1.0, 10.0])) == pytest.approx(0.1)
    assert error(f32(1, math.nan), np.array([1.0, 10.0])) == math.inf
    assert error(f32(1), np.array([1.0, 10.0])) == math.inf
