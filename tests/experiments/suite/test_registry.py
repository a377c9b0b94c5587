import json
import re
from pathlib import Path

import pytest

from experiments.suite.export import export
from experiments.suite.registry import CASES, DIALECTS, VARIANTS, sources
from experiments.suite.shapes import EXTRA, OPERATORS, find_operator
from experiments.suite.small import SHAPES, small_case
from experiments.suite.variant import Data, Variant

ALL = [pytest.param(case, id=f"{dialect}-{case.name}") for dialect in DIALECTS for case in CASES[dialect]]
WRITTEN = [dialect for dialect in DIALECTS if VARIANTS[dialect]]


def test_twenty_one_operators_and_small_shapes_for_all() -> None:
    assert len(OPERATORS) == 21 and all(len(operator.cases) == 8 for operator in OPERATORS.values())
    assert set(SHAPES) == set(OPERATORS) | set(EXTRA)


@pytest.mark.parametrize("dialect", WRITTEN)
def test_every_operator_has_its_eight_shapes(dialect: str) -> None:
    canonical = [case for case in CASES[dialect] if case.canonical]
    assert {case.operator for case in canonical} <= set(OPERATORS)
    for name in {case.operator for case in canonical}:
        assert [case.shape for case in canonical if case.operator == name] == list(OPERATORS[name].cases)
    assert len({case.name for case in CASES[dialect]}) == len(CASES[dialect])


@pytest.mark.parametrize("dialect", WRITTEN)
def test_every_source_is_used_by_some_case(dialect: str) -> None:
    assert {case.source for case in CASES[dialect]} == set(sources(dialect))


@pytest.mark.parametrize("case", ALL)
def test_the_sizes_of_a_case_are_those_that_its_source_takes(case) -> None:
    text = case.source.read_text(encoding="utf-8")
    macros = set(re.findall(r"#ifndef (\w+)", text))
    assert set(case.defines) == macros
    signature = re.search(rf"\bvoid {case.entry}\(([^)]*)\)\s*{{", text)
    assert signature is not None
    parameters = signature[1].split(",")
    description = find_operator(case.operator)
    pointers = [p.split("*")[-1].split()[-1] for p in parameters if "*" in p]
    assert len(pointers) == len(description.inputs) + 1
    assert all(pointers[description.inputs.index(name)] == name for name in description.integers)
    scalars = [p.split()[-1] for p in parameters if "*" not in p]
    assert list(case.binds) == scalars
    assert bool(macros) != bool(scalars)


def test_canonical_dimensions() -> None:
    dims = {case.name: case.dims for case in CASES["cuda"] if not case.scaled}
    assert dims["gemm_32_128_1024"] == {"M": 32, "K": 128, "N": 1024}
    assert dims["softmax_5_7_3_32"] == {"ROWS": 105, "COLS": 32, "N": 3360}
    assert dims["add_320"] == {"ROWS": 1, "COLS": 320, "N": 320}
    assert dims["conv2d_16_8_8_128_64_2_2_128_3_0"]["STRIDE"] == 3
    assert OPERATORS["conv2d"].extents(dims["conv2d_16_8_8_128_64_2_2_128_3_0"])["C"] == (16, 3, 3, 64)
    assert OPERATORS["maxpool"].extents(dims["maxpool_4_35_35_192_5_5_3_3"])["C"] == (4, 11, 11, 192)
    nchw = OPERATORS["conv2dnchw"]
    assert nchw.extents(nchw.dims_of("32_64_8_8_128_64_2_2_2_0")) == {"A": (32, 64, 8, 8), "B": (128, 64, 2, 2), "C": (32, 128, 4, 4)}
    deformable = OPERATORS["deformable"]
    assert deformable.extents(deformable.dims_of("4_8_256_100_4_4"))["value"] == (4, 13101, 8, 256)
    assert deformable.integers["level_start"](deformable.dims_of("4_8_256_100_4_4")) == (0, 9828, 12306, 12936)


def test_strange_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        OPERATORS["maxpool"].dims_of("1_8_9_4_3_3_1_1")
    with pytest.raises(ValueError, match="two more"):
        OPERATORS["conv1d"].dims_of("5_8")


def test_scaled_cases_say_so_and_keep_what_is_reduced() -> None:
    for dialect in DIALECTS:
        for case in CASES[dialect]:
            canonical = find_operator(case.operator).dims_of(case.shape)
            assert case.scaled == (case.dims != canonical)
            if case.operator in ("mha", "rmsnorm"):
                kept = {"HEADS", "DIM", "COLS"} & set(canonical)
                assert case.scaled and all(case.dims[name] == canonical[name] for name in kept)


def test_arguments_give_the_sizes() -> None:
    cases = CASES["cuda"]
    assert next(case for case in cases if case.name == "add_18_128").arguments == ("-D", "ROWS=18", "-D", "COLS=128")
    assert next(case for case in cases if case.binds).arguments[0] == "--bind"


def test_data_that_random_numbers_would_not_do_for_are_given() -> None:
    case = small_case("deformable", Variant("deformable.cu", ("BATCH",)))
    assert case.arguments == ("-D", "BATCH=2", "--values", "shapes=7,9,3,4,1,2,1,1", "--values", "level_start=0,63,75,77")


def test_sizes_are_rounded_up_to_what_a_source_asks_for() -> None:
    case = small_case("gemm", Variant("gemm.cu", ("M",), multiple={"M": 16, "K": 16}, data=Data.F16))
    assert case.dims == {"M": 48, "K": 48, "N": 70} and not case.canonical


def test_export(tmp_path: Path) -> None:
    count = export(tmp_path / "out")
    written = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert count == len(written) == sum(len(sources(dialect)) for dialect in DIALECTS) + 1
    manifest = json.loads((tmp_path / "out" / "cases.json").read_text())
    assert len(manifest) == sum(map(len, CASES.values()))
    assert all((tmp_path / "out" / entry["file"]).exists() for entry in manifest)
