"""The operators of the suite: canonical case names (``shared/suite.md`` section 2, CUDA column) and the dimensions that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod

Dims = dict[str, int]

_ELEMENTWISE = ("12_3_128", "3_4_5", "45_25", "5_128", "5_12_23_128", "5_7_3_32", "7_1_6_7", "8_10_64")


@dataclass(frozen=True, slots=True)
class Operator:
    """``inputs`` and ``output`` name the arguments in order; ``extents`` gives the tensor shape of each from the dimensions.

    ``integers`` are inputs of int32 whose contents follow from the dimensions: shapes of other inputs, starts of their parts.
    """

    name: str
    cases: tuple[str, ...]
    dims: Callable[[tuple[int, ...]], Dims]
    inputs: tuple[str, ...]
    output: str
    extents: Callable[[Dims], dict[str, tuple[int, ...]]]
    integers: Mapping[str, Callable[[Dims], tuple[int, ...]]] = field(default_factory=dict)

    def dims_of(self, shape: str) -> Dims:
        """The dimensions of a case name's shape."""
        return self.dims(tuple(map(int, shape.split("_"))))


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


def _nchw_dims(shape: tuple[int, ...]) -> Dims:
    batch, channels, size, width, outputs, channels_again, kernel, kernel_w, stride, pad = shape
    return _conv_dims((batch, size, width, channels, outputs, kernel, kernel_w, channels_again, stride, pad))


def _nchw_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    out = pooled(d["SIZE"], d["KERNEL"], d["STRIDE"])
    return {
        "A": (d["BATCH"], d["IN_CHANNELS"], d["SIZE"], d["SIZE"]),
        "B": (d["OUT_CHANNELS"], d["IN_CHANNELS"], d["KERNEL"], d["KERNEL"]),
        "C": (d["BATCH"], d["OUT_CHANNELS"], out, out),
    }


def _conv1d_dims(shape: tuple[int, ...]) -> Dims:
    out, size = shape
    if size != out + 2:
        raise ValueError(f"the kernel of conv1d has 3 elements, so that the input has two more than the output, not {shape}")
    return {"OUT": out}


def _depthwise_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    size, kernel, channels = d["SIZE"], d["KERNEL"], d["CHANNELS"]
    out = size - kernel + 1
    return {"A": (size, size, channels), "B": (kernel, kernel, channels), "C": (out, out, channels)}


LEVEL_SIZES = ((84, 117), (42, 59), (21, 30), (11, 15))  # height and width of the levels of deformable attention


def level_sizes(dims: Dims) -> tuple[tuple[int, int], ...]:
    """The levels, each side divided by ``SHRINK`` and at least 1."""
    return tuple((max(1, h // dims["SHRINK"]), max(1, w // dims["SHRINK"])) for h, w in LEVEL_SIZES[: dims["LEVELS"]])


def _level_starts(dims: Dims) -> tuple[int, ...]:
    areas = [h * w for h, w in level_sizes(dims)]
    return tuple(sum(areas[:level]) for level in range(len(areas)))


def deformable_dims(shape: tuple[int, ...], shrink: int = 1) -> Dims:
    """``PIXELS`` are those of all levels together."""
    dims = dict(zip(("BATCH", "HEADS", "DIM", "QUERIES", "LEVELS", "POINTS"), shape, strict=True)) | {"SHRINK": shrink}
    return dims | {"PIXELS": sum(h * w for h, w in level_sizes(dims))}


def _deformable_extents(d: Dims) -> dict[str, tuple[int, ...]]:
    samples = (d["BATCH"], d["QUERIES"], d["HEADS"], d["LEVELS"], d["POINTS"])
    return {
        "value": (d["BATCH"], d["PIXELS"], d["HEADS"], d["DIM"]),
        "shapes": (d["LEVELS"], 2),
        "level_start": (d["LEVELS"],),
        "locations": (*samples, 2),
        "weights": samples,
        "output": (d["BATCH"], d["QUERIES"], d["HEADS"] * d["DIM"]),
    }


def _attention_extents(*order: str) -> Callable[[Dims], dict[str, tuple[int, ...]]]:
    return lambda d: dict.fromkeys(("Q", "K", "V", "O"), tuple(d[name] for name in order))


def _elementwise(name: str) -> Operator:
    return Operator(name, _ELEMENTWISE, _rows, ("A",), "C", _rows_extents("A", "C"))


def _pool(name: str, *cases: str) -> Operator:
    return Operator(name, cases, _pool_dims, ("A",), "C", _pool_extents)


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
        Operator(
            "gemv",
            ("112_128", "112_224", "125_128", "125_320", "32_512", "32_64", "3_16", "3_512"),
            _named("M", "K"),
            ("A", "x"),
            "y",
            lambda d: {"A": (d["M"], d["K"]), "x": (d["K"],), "y": (d["M"],)},
        ),
        Operator(
            "conv1d",
            ("126_128", "190_192", "222_224", "256_258", "25_27", "312_314", "44_46", "5_7"),
            _conv1d_dims,
            ("x", "w"),
            "y",
            lambda d: {"x": (d["OUT"] + 2,), "w": (3,), "y": (d["OUT"],)},
        ),
        Operator(
            "conv2dnchw",
            tuple(
                f"{batch}_{channels}_8_8_{outputs}_{channels}_2_2_{stride}_0"
                for batch in (16, 32)
                for channels, outputs in ((128, 64), (64, 128))
                for stride in (2, 3)
            ),
            _nchw_dims,
            ("A", "B"),
            "C",
            _nchw_extents,
        ),
        Operator(
            "depthwiseconv",
            tuple(f"{size}_3_{channels}" for size in (128, 192, 256, 6) for channels in (128, 3)),
            _named("SIZE", "KERNEL", "CHANNELS"),
            ("A", "B"),
            "C",
            _depthwise_extents,
        ),
        *map(_elementwise, ("softmax", "relu", "sigmoid", "sign")),
        Operator(
            "layernorm",
            ("1_4_128", "1_4_32", "1_8_128", "1_8_32", "2_4_128", "2_4_32", "2_8_128", "2_8_32"),
            _layernorm_dims,
            ("A", "gamma", "beta"),
            "C",
            _layernorm_extents,
        ),
        _elementwise("gelu"),
        Operator(
            "add",
            ("100_2_10_1024", "18_128", "1_15_64", "21_192", "320", "3_3_256", "4_4_4_64", "64"),
            _rows,
            ("A", "B"),
            "C",
            _rows_extents("A", "B", "C"),
        ),
        _pool(
            "maxpool",
            "16_112_112_64_5_5_3_3",
            "16_64_64_64_5_5_2_2",
            "1_5_5_64_5_5_1_1",
            "4_35_35_192_5_5_3_3",
            "4_56_56_128_5_5_2_2",
            "4_8_8_64_5_5_3_3",
            "5_112_112_64_5_5_2_2",
            "5_32_32_64_5_5_3_3",
        ),
        _pool(
            "avgpool",
            "16_112_112_64_5_5_3_3",
            "16_64_64_64_5_5_2_2",
            "1_5_5_64_5_5_1_1",
            "4_35_35_192_5_5_2_2",
            "4_56_56_128_5_5_2_2",
            "4_8_8_64_5_5_3_3",
            "5_112_112_64_5_5_3_3",
            "5_32_32_64_5_5_3_3",
        ),
        _pool(
            "minpool",
            "16_112_112_64_5_5_3_3",
            "16_64_64_64_5_5_3_3",
            "1_5_5_64_5_5_1_1",
            "4_35_35_192_5_5_3_3",
            "4_56_56_128_5_5_3_3",
            "4_8_8_64_5_5_3_3",
            "5_112_112_64_5_5_3_3",
            "5_32_32_64_5_5_3_3",
        ),
        _pool(
            "sumpool",
            "16_112_112_64_5_5_3_3",
            "16_64_64_64_5_5_1_1",
            "1_5_5_64_3_3_2_2",
            "4_35_35_192_5_5_2_2",
            "4_56_56_128_5_5_3_3",
            "4_8_8_64_3_3_2_2",
            "5_112_112_64_3_3_2_2",
            "5_32_32_64_5_5_3_3",
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
        Operator(
            "deformable",
            tuple(f"{batch}_8_{dim}_{queries}_4_4" for batch in (1, 4) for dim in (256, 512) for queries in (100, 200)),
            deformable_dims,
            ("value", "shapes", "level_start", "locations", "weights"),
            "output",
            _deformable_extents,
            {"shapes": lambda d: tuple(side for level in level_sizes(d) for side in level), "level_start": _level_starts},
        ),
        Operator(
            "mha",
            (
                "1_2048_12_256",
                "1_2048_6_256",
                "1_4096_12_256",
                "1_4096_12_512",
                "1_4096_6_256",
                "64_2048_12_256",
                "64_2048_12_512",
                "64_4096_12_256",
            ),
            _named("BATCH", "SEQ", "HEADS", "DIM"),
            ("Q", "K", "V"),
            "O",
            _attention_extents("BATCH", "SEQ", "HEADS", "DIM"),
        ),
        Operator(
            "rmsnorm",
            ("2048_2048", "2048_4096", "2048_8192", "4096_2048", "4096_4096", "4096_8192", "8192_4096", "8192_8192"),
            _rows,
            ("A",),
            "C",
            _rows_extents("A", "C"),
        ),
    )
}

# Not of the 21 operators: the flash attention of the paper's table 11.
EXTRA: dict[str, Operator] = {
    "flash_attention": Operator(
        "flash_attention",
        ("8_16_1024_32",),
        _named("BATCH", "HEADS", "SEQ", "DIM"),
        ("Q", "K", "V"),
        "O",
        _attention_extents("BATCH", "HEADS", "SEQ", "DIM"),
    )
}


def find_operator(name: str) -> Operator:
    """Of the suite or one of the extra ones. Raises KeyError."""
    return OPERATORS[name] if name in OPERATORS else EXTRA[name]
