import math

import numpy as np
import pytest

from experiments.suite.references import error, expected, make_inputs, tolerance
from experiments.suite.shapes import deformable_dims, find_operator
from experiments.suite.variant import Data


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


def loops(operator: str, data: Data, shape: str, kernel) -> None:
    """Holds the vectorised reference against plain loops over the output, in exact integers."""
    dims = find_operator(operator).dims_of(shape)
    inputs = make_inputs(operator, dims, 5, data)
    result = expected(operator, inputs, dims)
    wide = {name: values.astype(np.int64) for name, values in inputs.items()}
    assert result.dtype == np.int64
    for index in np.ndindex(*result.shape):
        assert result[index] == kernel(wide, dims, *index)


def test_integers_are_exact() -> None:
    loops("gemm", Data.U8S8, "3_5_4", lambda t, d, i, j: sum(t["A"][i, k] * t["B"][k, j] for k in range(5)))
    loops("gemv", Data.S8S8, "3_7", lambda t, d, i: sum(t["A"][i, k] * t["x"][k] for k in range(7)))
    loops("conv1d", Data.S8S8, "6_8", lambda t, d, i: sum(t["x"][i + j] * t["w"][j] for j in range(3)))
    loops(
        "conv2dnchw",
        Data.U8S8,
        "2_3_5_5_4_3_2_2_2_0",
        lambda t, d, n, o, i, j: sum(
            t["A"][n, c, 2 * i + a, 2 * j + b] * t["B"][o, c, a, b] for c in range(3) for a in range(2) for b in range(2)
        ),
    )
    loops(
        "depthwiseconv",
        Data.U8S8,
        "5_3_2",
        lambda t, d, i, j, c: sum(t["A"][i + a, j + b, c] * t["B"][a, b, c] for a in range(3) for b in range(3)),
    )


def test_integer_inputs_use_their_range() -> None:
    inputs = make_inputs("gemm", {"M": 64, "K": 64, "N": 64}, 0, Data.U8S8)
    assert inputs["A"].dtype == np.uint8 and inputs["B"].dtype == np.int8
    assert (inputs["A"].min(), inputs["A"].max(), inputs["B"].min(), inputs["B"].max()) == (0, 255, -127, 127)
    assert tolerance("gemm", Data.U8S8) == 0


def test_elementwise_by_hand() -> None:
    x = f32(-2, -0.0, 0, 3)
    assert expected("relu", {"A": x}, {}).tolist() == [0, 0, 0, 3]
    assert expected("sign", {"A": x}, {}).tolist() == [-1, 0, 0, 1]
    assert expected("sigmoid", {"A": f32(0, math.log(3), -1000)}, {}).tolist() == pytest.approx([0.5, 0.75, 0], abs=1e-7)


def test_pools_by_hand() -> None:
    x = np.arange(25, dtype=np.float32).reshape(1, 5, 5, 1)
    dims = {"KERNEL": 2, "STRIDE": 2}
    assert expected("avgpool", {"A": x}, dims).reshape(-1).tolist() == [3, 5, 13, 15]
    assert expected("minpool", {"A": x}, dims).reshape(-1).tolist() == [0, 2, 10, 12]
    assert expected("sumpool", {"A": x}, dims).reshape(-1).tolist() == [12, 20, 52, 60]


def test_rmsnorm_has_its_epsilon_inside_of_the_root() -> None:
    assert expected("rmsnorm", {"A": f32(math.sqrt(1e-5)).reshape(1, 1)}, {})[0, 0] == pytest.approx(1 / math.sqrt(2))


def test_attention_is_over_the_last_axis_but_one() -> None:
    q = np.zeros((1, 1, 2, 3), np.float32)  # equal scores: the mean of the values
    v = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    assert expected("mha", {"Q": q, "K": v, "V": v}, {}).reshape(2, 3).tolist() == [[1.5, 2.5, 3.5]] * 2


def test_deformable_against_plain_loops() -> None:
    dims = deformable_dims((2, 3, 4, 5, 4, 2), shrink=12)
    inputs = make_inputs("deformable", dims, 3)
    value, locations, weights = (inputs[name].astype(float) for name in ("value", "locations", "weights"))
    result = expected("deformable", inputs, dims).reshape(2, 5, 3, 4)
    sizes, starts = inputs["shapes"], inputs["level_start"]

    def corner(n: int, level: int, row: int, column: int, m: int) -> np.ndarray:
        height, width = sizes[level]
        if not (0 <= row < height and 0 <= column < width):
            return np.zeros(4)
        return value[n, starts[level] + row * width + column, m]

    for n, q, m in np.ndindex(2, 5, 3):
        total = np.zeros(4)
        for level, p in np.ndindex(4, 2):
            x, y = locations[n, q, m, level, p] * sizes[level][::-1] - 0.5
            r, c = math.floor(y), math.floor(x)
            low, right = y - r, x - c
            total += weights[n, q, m, level, p] * (
                (1 - low) * (1 - right) * corner(n, level, r, c, m)
                + (1 - low) * right * corner(n, level, r, c + 1, m)
                + low * (1 - right) * corner(n, level, r + 1, c, m)
                + low * right * corner(n, level, r + 1, c + 1, m)
            )
        assert result[n, q, m] == pytest.approx(total)
