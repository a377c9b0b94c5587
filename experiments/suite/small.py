"""Small shapes of every operator, multiples of nothing, so that tails and guards matter: for tests and mutants."""

from __future__ import annotations

from experiments.suite.registry import Case, case_of
from experiments.suite.shapes import Dims, deformable_dims, find_operator
from experiments.suite.variant import Variant

_ROWS = "5_67"
_POOL = "2_9_9_7_3_3_2_2"
SHAPES = {
    "gemm": "45_35_70",
    "gemv": "13_70",
    "bmm": "2_20_33_18",
    "conv1d": "67_69",
    "conv2d": "2_7_7_5_9_2_2_5_2_0",
    "conv2dnchw": "2_5_7_7_9_5_2_2_2_0",
    "depthwiseconv": "9_3_7",
    "relu": _ROWS,
    "softmax": "7_45",
    "gelu": _ROWS,
    "sigmoid": _ROWS,
    "add": "5_131",
    "sign": _ROWS,
    "maxpool": _POOL,
    "avgpool": _POOL,
    "minpool": _POOL,
    "sumpool": _POOL,
    "layernorm": "2_3_72",
    "deformable": "2_3_20_5_4_2",
    "mha": "2_3_5_24",
    "rmsnorm": "5_72",
    "flash_attention": "1_2_45_16",
}


def small_dims(operator: str, variant: Variant | None = None) -> Dims:
    """The dimensions, each rounded up to what a source asks for."""
    description = find_operator(operator)
    shape = tuple(map(int, SHAPES[operator].split("_")))
    dims = deformable_dims(shape, shrink=12) if operator == "deformable" else description.dims(shape)
    factors = variant.multiple if variant else {}
    return dims | {name: -(-dims[name] // factor) * factor for name, factor in factors.items()}


def small_case(operator: str, variant: Variant, dialect: str = "cuda") -> Case:
    """A variant at its small size."""
    return case_of(operator, variant, SHAPES[operator], small_dims(operator, variant), dialect=dialect)
