"""What each operator computes, in numpy double precision, from the formulas of ``shared/suite.md`` section 1.

Nothing here is shared with the product or with the CUDA sources: these are the judges of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.suite.shapes import OPERATORS, Dims, pooled

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


def _maxpool(inputs: Inputs, dims: Dims) -> Array:
    planes = [plane for row in _windows(inputs["A"], dims["KERNEL"], dims["STRIDE"]) for plane in row]
    return np.asarray(np.max(np.stack(planes), axis=0))


def _conv2d(inputs: Inputs, dims: Dims) -> Array:
    w = inputs["B"]
    rows = _windows(inputs["A"], dims["KERNEL"], dims["STRIDE"])
    return np.asarray(sum(plane @ w[:, i, j, :].T for i, row in enumerate(rows) for j, plane in enumerate(row)))


REFERENCES: dict[str, Callable[[Inputs, Dims], Array]] = {
    "gemm": _product,
    "bmm": _product,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "gelu": _gelu,
    "add": _add,
    "maxpool": _maxpool,
    "conv2d": _conv2d,
}


def make_inputs(operator: str, dims: Dims, seed: int) -> dict[str, Array]:
    """Random float32 tensors for the inputs of an operator, distinct values, from an explicit seed."""
    rng = np.random.default_rng(seed)
    extents = OPERATORS[operator].extents(dims)
    return {name: rng.standard_normal(extents[name], dtype=np.float32) for name in OPERATORS[operator].inputs}


def expected(operator: str, inputs: Inputs, dims: Dims) -> Array:
    """The output tensor in float64 for the given inputs (converted exactly)."""
    return REFERENCES[operator]({name: values.astype(np.float64) for name, values in inputs.items()}, dims)


def error(actual: Array, reference: Array) -> float:
    """The largest deviation from the reference, relative to the largest magnitude of the output; infinite where a value is not finite."""
    if actual.size != reference.size:
        return float("inf")
    difference = np.abs(actual.reshape(-1).astype(np.float64) - reference.reshape(-1))
    if not np.isfinite(difference).all():
        return float("inf")
    return float(difference.max(initial=0.0) / max(float(np.abs(reference).max(initial=0.0)), 1e-30))


# An independent bound on float32 rounding of these operators at these sizes, with their sums of up to 1,000 terms.
TOLERANCE = 1e-4
