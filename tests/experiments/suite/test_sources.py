"""Every source of the suite, run on its device at sizes that are no multiples of anything, against the numpy reference."""

import pytest

from experiments.suite.execution import judge
from experiments.suite.registry import DIALECTS, VARIANTS
from experiments.suite.small import small_case

ALL = [
    pytest.param(
        small_case(operator, variant, dialect),
        id=f"{dialect}-{variant.file}",
    )
    for dialect in DIALECTS
    for operator, variants in VARIANTS[dialect].items()
    for variant in variants
]


@pytest.mark.parametrize("case", ALL)
def test_source_computes_the_operator(case) -> None:
    judgement = judge(case, case.source.read_text(encoding="utf-8"), case.dialect)
    assert judgement.right, judgement


def test_a_wrong_source_is_noticed() -> None:
    case = small_case("gemm", VARIANTS["cuda"]["gemm"][1])
    text = case.source.read_text(encoding="utf-8").replace("k < K", "k < K - 1")
    assert not judge(case, text, "cuda").right
