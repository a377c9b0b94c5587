"""What each operator computes, in numpy double precision, from the formulas of ``shared/suite.md`` section 1.

Integers are exact: in 64 bits. Nothing here is shared with the product or with the sources: these are the judges of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.suite.shapes import Dims, find_operator, level_sizes, pooled
from experiments.suite.variant import Data
from synth.evidence.cases import NUMPY_DTYPES
from synth.ir.dtypes import DType

Array = NDArray[Any]
Inputs = Mapping[str, Array]


def _product(inputs: Inputs, dims: Dims) -> Array:
    return np.asarray(np.matmul(inputs["A"], inputs["B"]))


def _softmax(inputs: Inputs, dims: Dims) -> Array:
    x = inputs["A"]
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _layernorm(inputs: Inputs, dims: Dims) -> Array:
    """The epsilon stands outside of the root, the variance is the biased one."""
    x = inputs["A"]
    mean = x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True))
    return np.asarray(inputs["gamma"] * (x - mean) / (deviation + 1e-5) + inputs["beta"])


def _gelu(inputs: Inputs, dims: Dims) -> Array:
    x = inputs["A"]
    return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


def _add(inputs: Inputs, dims: Dims) -> Array:
    return np.asarray(inputs["A"] + inputs["B"])


def _windows(x: Array, kernel: int, stride: int) -> list[list[Array]]:
    """For each offset of the window the inputs that it takes, one for each output pixel: [row][column] of [N, Ho, Wo, C]."""
    out = pooled(x.shape[1], kernel, stride)
    reach = (out - 1) * stride + 1
    return [[x[:, i : i + reach : stride, j : j + reach : stride, :] for j in range(kernel)] for i in range(kernel)]


def _gemv(inputs: Inputs, dims: Dims) -> Array:
    return np.asarray(inputs["A"] @ inputs["x"])


def _conv1d(inputs: Inputs, dims: Dims) -> Array:
    x, w = inputs["x"], inputs["w"]
    return np.asarray(x[:-2] * w[0] + x[1:-1] * w[1] + x[2:] * w[2])


def _relu(inputs: Inputs, dims: Dims) -> Array:
    return np.maximum(inputs["A"], 0.0)


def _sigmoid(inputs: Inputs, dims: Dims) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * inputs["A"])))  # 1 / (1 + e^-x), without its overflow


def _sign(inputs: Inputs, dims: Dims) -> Array:
    return np.sign(inputs["A"])


def _rmsnorm(inputs: Inputs, dims: Dims) -> Array:
    """The epsilon stands inside of the root, unlike that of layernorm."""
    x = inputs["A"]
    return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5))


def _pool(reduce: Callable[[Array], Array]) -> Callable[[Inputs, Dims], Array]:
    """``reduce`` takes the inputs of all windows, one offset of the window after another: [k * k, N, Ho, Wo, C]."""

    def pool(inputs: Inputs, dims: Dims) -> Array:
        planes = [plane for row in _windows(inputs["A"], dims["KERNEL"], dims["STRIDE"]) for plane in row]
        return reduce(np.stack(planes))

    return pool


def _conv2d(inputs: Inputs, dims: Dims) -> Array:
    w = inputs["B"]
    rows = _windows(inputs["A"], dims["KERNEL"], dims["STRIDE"])
    return np.asarray(sum(plane @ w[:, i, j, :].T for i, row in enumerate(rows) for j, plane in enumerate(row)))


def _conv2dnchw(inputs: Inputs, dims: Dims) -> Array:
    """The same convolution with the channels moved to the end and back."""
    moved = {"A": inputs["A"].transpose(0, 2, 3, 1), "B": inputs["B"].transpose(0, 2, 3, 1)}
    return _conv2d(moved, dims).transpose(0, 3, 1, 2)


def _depthwiseconv(inputs: Inputs, dims: Dims) -> Array:
    w = inputs["B"]
    rows = _windows(inputs["A"][np.newaxis], dims["KERNEL"], 1)
    return np.asarray(sum(plane[0] * w[i, j] for i, row in enumerate(rows) for j, plane in enumerate(row)))


def _attend(q: Array, k: Array, v: Array) -> Array:
    """Softmax(q k^T / sqrt(d)) v over the last two axes."""
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    return np.asarray(np.matmul(_softmax({"A": scores}, {}), v))


def _mha(inputs: Inputs, dims: Dims) -> Array:
    """Over the heads of each position, not over the sequence: [B, S, H, D] is H x D for each (b, s)."""
    return _attend(inputs["Q"], inputs["K"], inputs["V"])


def _deformable(inputs: Inputs, dims: Dims) -> Array:
    """Suite.md section 3: for each level and point the bilinear sample at row y H - 0.5, column x W - 0.5; corners outside count 0."""
    value, locations, weights = inputs["value"], inputs["locations"], inputs["weights"]
    batch, _, heads, depth = value.shape
    queries = locations.shape[1]
    out = np.zeros((batch, queries, heads, depth))
    images = np.arange(batch)[:, None, None, None]
    of_head = np.arange(heads)[None, None, :, None]
    start = 0
    for level, (height, width) in enumerate(level_sizes(dims)):
        x = locations[:, :, :, level, :, 0] * width - 0.5  # [N, Lq, M, P]
        y = locations[:, :, :, level, :, 1] * height - 0.5
        for dy in (0, 1):
            for dx in (0, 1):
                row, column = np.floor(y) + dy, np.floor(x) + dx
                share = (1 - np.abs(y - row)) * (1 - np.abs(x - column))
                inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
                at = start + np.where(inside, row * width + column, 0).astype(np.int64)
                corner = value[images, at, of_head]  # [N, Lq, M, P, D]
                out += ((share * inside * weights[:, :, :, level])[..., np.newaxis] * corner).sum(axis=3)
        start += height * width
    return out.reshape(batch, queries, heads * depth)


REFERENCES: dict[str, Callable[[Inputs, Dims], Array]] = {
    "gemm": _product,
    "gemv": _gemv,
    "bmm": _product,
    "conv1d": _conv1d,
    "conv2d": _conv2d,
    "conv2dnchw": _conv2dnchw,
    "depthwiseconv": _depthwiseconv,
    "relu": _relu,
    "softmax": _softmax,
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "add": _add,
    "sign": _sign,
    "maxpool": _pool(lambda planes: np.asarray(planes.max(axis=0))),
    "avgpool": _pool(lambda planes: np.asarray(planes.mean(axis=0))),
    "minpool": _pool(lambda planes: np.asarray(planes.min(axis=0))),
    "sumpool": _pool(lambda planes: np.asarray(planes.sum(axis=0))),
    "layernorm": _layernorm,
    "deformable": _deformable,
    "mha": _mha,
    "rmsnorm": _rmsnorm,
    "flash_attention": _mha,  # [B, H, S, D]: over the sequence
}


def dtypes(operator: str, data: Data) -> dict[str, DType]:
    """The element type of every argument."""
    description = find_operator(operator)
    first, others = data.inputs
    types = {name: first if number == 0 else others for number, name in enumerate(description.inputs)}
    return types | dict.fromkeys(description.integers, DType.I32) | {description.output: data.output}


def make_inputs(operator: str, dims: Dims, seed: int, data: Data = Data.F32) -> dict[str, Array]:
    """Random tensors for the inputs of an operator, from an explicit seed: distinct floats, integers over the whole range but -128 (so
    that the worst sums are symmetric), the contents that belong to the dimensions."""
    rng = np.random.default_rng(seed)
    description = find_operator(operator)
    extents, types = description.extents(dims), dtypes(operator, data)
    found: dict[str, Array] = {}
    for name in description.inputs:
        shape, dtype = extents[name], types[name]
        if name in description.integers:
            found[name] = np.array(description.integers[name](dims), np.int32).reshape(shape)
        elif dtype.is_int:
            low = -127 if dtype is DType.I8 else 0
            found[name] = rng.integers(low, dtype.max_int, size=shape, endpoint=True).astype(NUMPY_DTYPES[dtype])
        elif name == "locations":
            found[name] = rng.uniform(-0.1, 1.1, size=shape).astype(np.float32)  # nominally in [0, 1], some outside
        else:
            found[name] = rng.standard_normal(shape, dtype=np.float32).astype(NUMPY_DTYPES[dtype])
    return found


def expected(operator: str, inputs: Inputs, dims: Dims) -> Array:
    """The output tensor for the given inputs (converted exactly): in float64, of integers in int64."""
    whole = all(values.dtype.kind in "iu" for values in inputs.values())
    wide = np.int64 if whole else np.float64
    return REFERENCES[operator]({name: values.astype(wide) for name, values in inputs.items()}, dims)


def error(actual: Array, reference: Array) -> float:
    """The largest deviation from the reference, relative to the largest magnitude of the output; infinite where a value is not finite."""
    if actual.size != reference.size:
        return float("inf")
    difference = np.abs(actual.reshape(-1).astype(np.float64) - reference.reshape(-1))
    if not np.isfinite(difference).all():
        return float("inf")
    return float(difference.max(initial=0.0) / max(float(np.abs(reference).max(initial=0.0)), 1e-30))


# An independent bound on float32 rounding of these operators at these sizes, with their sums of up to 8,000 terms.
TOLERANCE = 1e-4
# Attention in half rounds the probabilities to half (11 bits) before the second product; inputs are taken as they are.
HALF_ATTENTION_TOLERANCE = 2e-3


def tolerance(operator: str, data: Data) -> float:
    """The largest allowed ``error``: none for integers."""
    if data.is_integer:
        return 0.0
    return HALF_ATTENTION_TOLERANCE if data is Data.F16 and operator in ("mha", "flash_attention") else TOLERANCE
