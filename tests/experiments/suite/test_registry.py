import json
import re
from pathlib import Path

import pytest

from experiments.suite.export import export
from experiments.suite.registry import CASES, SOURCES, VARIANTS
from experiments.suite.shapes import OPERATORS


def test_eight_operators_times_eight_shapes() -> None:
    assert len(CASES) == 64 and len({case.name for case in CASES}) == 64
    assert {name: sum(case.operator == name for case in CASES) for name in OPERATORS} == dict.fromkeys(OPERATORS, 8)


def test_every_source_is_used_by_some_case() -> None:
    assert {case.source for case in CASES} == set(SOURCES.glob("*.cu"))
    assert all(len(variants) >= 2 for variants in VARIANTS.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_sizes_of_a_case_are_those_that_its_source_takes(case) -> None:
    text = case.source.read_text(encoding="utf-8")
    macros = set(re.findall(r"#ifndef (\w+)", text))
    assert set(case.defines) == macros
    signature = re.search(rf'extern "C" void {case.entry}\((.*?)\)', text, re.S)
    assert signature is not None
    scalars = [p.split()[-1] for p in signature[1].split(",") if "*" not in p]
    assert list(case.binds) == scalars
    assert bool(macros) != bool(scalars)


def test_canonical_dimensions() -> None:
    dims = {case.name: case.dims for case in CASES if not case.scaled}
    assert dims["gemm_32_128_1024"] == {"M": 32, "K": 128, "N": 1024}
    assert dims["softmax_5_7_3_32"] == {"ROWS": 105, "COLS": 32, "N": 3360}
    assert dims["add_320"] == {"ROWS": 1, "COLS": 320, "N": 320}
    assert dims["conv2d_16_8_8_128_64_2_2_128_3_0"]["STRIDE"] == 3
    assert OPERATORS["conv2d"].extents(dims["conv2d_16_8_8_128_64_2_2_128_3_0"])["C"] == (16, 3, 3, 64)
    assert OPERATORS["maxpool"].extents(dims["maxpool_4_35_35_192_5_5_3_3"])["C"] == (4, 11, 11, 192)


def test_strange_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        OPERATORS["maxpool"].dims((1, 8, 9, 4, 3, 3, 1, 1))


def test_arguments_give_the_sizes() -> None:
    case = next(case for case in CASES if case.name == "add_18_128")
    assert case.arguments == ("-D", "ROWS=18", "-D", "COLS=128")
    case = next(case for case in CASES if case.binds)
    assert case.arguments[0] == "--bind"


def test_export(tmp_path: Path) -> None:
    count = export(tmp_path / "out")
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert count == len(written) == len(list(SOURCES.glob("*.cu"))) + 1
    manifest = json.loads((tmp_path / "out" / "cases.json").read_text())
    assert len(manifest) == 64 and all((tmp_path / "out" / entry["file"]).exists() for entry in manifest)
