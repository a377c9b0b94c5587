"""The operators of the suite: canonical case names (``shared/suite.md`` section 2, CUDA column) and the dimensions that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

Dims = dict[str, int]

_ELEMENTWISE = ("12_3_128", "3_4_5", "45_25", "5_128", "5_12_23_128", "5_7_3_32", "7_1_6_7", "8_10_64")


@dataclass(frozen=True, slots=True)
class Operator:
    """``inputs`` and ``output`` name the arguments in order; ``extents`` gives the tensor shape of each from the dimensions."""

    name: str
    cases: tuple[str, ...]
    dims: Callable[[tuple[int, ...]], Dims]
    inputs: tuple[str, ...]
    output: str
    extents: Callable[[Dims], dict[str, tuple[int, ...]]]


def pooled(size: int, kernel: int, stride: int) -> int:
    """Output side of a pooling or convolution without padding; leftovers are dropped."""
    return (size - kernel) // stride + 1


def _gemm_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    return {"A": (d["M"], d["K"]), "B": (d["K"], d["N"]), "C": (d["M"], d["N"])}


def _bmm_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    return {name: (d["BATCH"], *shape) for name, shape in _gemm_extents(d).items()}


def _rows(shape: tuple[int, ...]) -> Dims:
    rows, cols = prod(shape[:-1]), shape[-1]
    return {"ROWS": rows, "COLS": cols, "N": rows * cols}


def _rows_extents(*names: str) -> Callable[[Dims], dict[str, tuple[int, ...]]]:
    return lambda d: dict.fromkeys(names, (d["ROWS"], d["COLS"]))


def _layernorm_dims(shape: tuple[int, ...]) -> Dims:
    batch, seq, dim = shape
    return {"BATCH": batch, "SEQ": seq, "DIM": dim, "ROWS": batch * seq}


def _layernorm_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    full = (d["BATCH"], d["SEQ"], d["DIM"])
    return {"A": full, "gamma": (d["DIM"],), "beta": (d["DIM"],), "C": full}


def _pool_dims(shape: tuple[int, ...]) -> Dims:
    batch, size, width, channels, kernel, kernel_w, stride, stride_w = shape
    if size != width or kernel != kernel_w or stride != stride_w:
        raise ValueError(f"the pooling kernels take square images, windows and strides, not {shape}")
    return {"BATCH": batch, "SIZE": size, "CHANNELS": channels, "KERNEL": kernel, "STRIDE": stride}


def _pool_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    out = pooled(d["SIZE"], d["KERNEL"], d["STRIDE"])
    return {"A": (d["BATCH"], d["SIZE"], d["SIZE"], d["CHANNELS"]), "C": (d["BATCH"], out, out, d["CHANNELS"])}


def _conv_dims(shape: tuple[int, ...]) -> Dims:
    batch, size, width, channels, outputs, kernel, kernel_w, channels_again, stride, pad = shape
    if size != width or kernel != kernel_w or channels != channels_again or pad != 0:
        raise ValueError(f"the convolutions take square images and windows without padding, not {shape}")
    return {"BATCH": batch, "SIZE": size, "IN_CHANNELS": channels, "OUT_CHANNELS": outputs, "KERNEL": kernel, "STRIDE": stride}


def _conv_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    out = pooled(d["SIZE"], d["KERNEL"], d["STRIDE"])
    return {
        "A": (d["BATCH"], d["SIZE"], d["SIZE"], d["IN_CHANNELS"]),
        "B": (d["OUT_CHANNELS"], d["KERNEL"], d["KERNEL"], d["IN_CHANNELS"]),
        "C": (d["BATCH"], out, out, d["OUT_CHANNELS"]),
    }


def _named(*names: str) -> Callable[[tuple[int, ...]], Dims]:
    return lambda shape: dict(zip(names, shape, strict=True))


OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator(
            "gemm",
            ("1024_128_128", "1024_128_4096", "1024_16_1024", "1024_16_128", "32_128_1024", "32_128_128", "32_32_1024", "32_32_128"),
            _named("M", "K", "N"),
            ("A", "B"),
            "C",
            _gemm_extents,
        ),
        Operator(
            "bmm",
            (
                "1_128_128_128",
                "1_128_256_512",
                "1_256_256_256",
                "1_512_512_512",
                "4_128_128_128",
                "4_128_256_512",
                "4_256_256_256",
                "4_512_512_512",
            ),
            _named("BATCH", "M", "K", "N"),
            ("A", "B"),
            "C",
            _bmm_extents,
        ),
        Operator("softmax", _ELEMENTWISE, _rows, ("A",), "C", _rows_extents("A", "C")),
        Operator(
            "layernorm",
            ("1_4_128", "1_4_32", "1_8_128", "1_8_32", "2_4_128", "2_4_32", "2_8_128", "2_8_32"),
            _layernorm_dims,
            ("A", "gamma", "beta"),
            "C",
            _layernorm_extents,
        ),
        Operator("gelu", _ELEMENTWISE, _rows, ("A",), "C", _rows_extents("A", "C")),
        Operator(
            "add",
            ("100_2_10_1024", "18_128", "1_15_64", "21_192", "320", "3_3_256", "4_4_4_64", "64"),
            _rows,
            ("A", "B"),
            "C",
            _rows_extents("A", "B", "C"),
        ),
        Operator(
            "maxpool",
            (
                "16_112_112_64_5_5_3_3",
                "16_64_64_64_5_5_2_2",
                "1_5_5_64_5_5_1_1",
                "4_35_35_192_5_5_3_3",
                "4_56_56_128_5_5_2_2",
                "4_8_8_64_5_5_3_3",
                "5_112_112_64_5_5_2_2",
                "5_32_32_64_5_5_3_3",
            ),
            _pool_dims,
            ("A",),
            "C",
            _pool_extents,
        ),
        Operator(
            "conv2d",
            tuple(
                f"{batch}_8_8_{channels}_64_2_2_{channels}_{stride}_0" for batch in (16, 32) for channels in (128, 64) for stride in (2, 3)
            ),
            _conv_dims,
            ("A", "B"),
            "C",
            _conv_extents,
        ),
    )
}
