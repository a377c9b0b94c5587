"""Every source of the suite, run on the emulator at sizes that are no multiples of anything, against the numpy reference."""

import pytest

from experiments.suite.execution import judge
from experiments.suite.registry import VARIANTS, case_of
from experiments.suite.shapes import OPERATORS

SMALL = {
    "gemm": "33_17_37",
    "bmm": "3_20_33_18",
    "softmax": "7_45",
    "layernorm": "2_3_45",
    "gelu": "3_67",
    "add": "5_31",
    "maxpool": "2_9_9_7_3_3_2_2",
    "conv2d": "2_7_7_5_9_2_2_5_2_0",
}
ALL = [(operator, variant) for operator, variants in VARIANTS.items() for variant in variants]


def small_case(operator, variant):
    shape = SMALL[operator]
    return case_of(operator, variant, shape, OPERATORS[operator].dims(tuple(map(int, shape.split("_")))))


@pytest.mark.parametrize(("operator", "variant"), ALL, ids=[variant.file for _, variant in ALL])
def test_source_computes_the_operator(operator, variant) -> None:
    case = small_case(operator, variant)
    judgement = judge(case, case.source.read_text(encoding="utf-8"), "cuda")
    assert judgement.right, judgement


def test_a_wrong_source_is_noticed() -> None:
    case = small_case("gemm", VARIANTS["gemm"][1])
    text = case.source.read_text(encoding="utf-8").replace("k < K", "k < K - 1")
    assert not judge(case, text, "cuda").right
