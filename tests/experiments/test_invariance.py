"""Rewritings that keep the meaning of a source keep the outcome of its translation: no pass depends on names or order."""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from experiments.suite.registry import VARIANTS, Case, sources
from experiments.suite.shapes import find_operator
from experiments.suite.small import small_case
from experiments.suite.variant import Variant
from experiments.variants import rename, reorder_statements, swap_operands
from synth.source import ReadOptions, Source
from xpiler.options import Options
from xpiler.translation import translate_source

# Two sources of every operator: of some there are more, which differ in what the passes see less than in what they cost here.
SOURCES = [pytest.param(operator, variant, id=variant.file) for operator, variants in VARIANTS["cuda"].items() for variant in variants[:2]]
INPUTS = {name: find_operator(name).inputs for name in VARIANTS["cuda"]}


@dataclass(frozen=True)
class Seen:
    """What must not change."""

    status: str
    levels: tuple[tuple[str, str], ...]
    loops: tuple[tuple[str, int], ...]
    lanes: Any


def seen(text: str, case: Case) -> Seen:
    scalars, pointers = parameters(text, case.entry)
    values = {pointers[INPUTS[case.operator].index(name)]: contents for name, contents in case.values.items()}
    options = Options(ReadOptions(defines=case.defines, binds=dict(zip(scalars, case.binds.values(), strict=True)), values=values))
    result = translate_source(Source(text, "cuda", case.source.name), "vnni", options)
    structure = result.structure
    return Seen(
        result.status.value,
        tuple((finding.level.value, finding.outcome.value) for finding in result.evidence.findings),
        tuple((kind, len(structure[kind])) for kind in ("parallel_loops", "vector_loops", "simd_loops")),
        structure["lanes"],
    )


def parameters(text: str, entry: str) -> tuple[list[str], list[str]]:
    """The names of the entry's scalar parameters and of its pointers, in order, by which ``--bind`` and ``--values`` speak of them."""
    signature = re.search(rf'extern "C" void {entry}\((.*?)\)', text, re.S)
    assert signature is not None
    names = [(parameter.replace("*", " ").split()[-1], "*" in parameter) for parameter in signature[1].split(",")]
    return [name for name, pointer in names if not pointer], [name for name, pointer in names if pointer]


def rewritten(text: str, entry: str) -> str:
    """All rewritings, one after another; each must find something to do in some source. Macros keep the defaults of the file."""
    return reorder_statements(swap_operands(rename(text, entry, {}), {}), {})


@pytest.mark.parametrize(("operator", "variant"), SOURCES)
def test_outcome_does_not_depend_on_the_writing(operator: str, variant: Variant) -> None:
    case = small_case(operator, variant)
    text = case.source.read_text(encoding="utf-8")
    other = rewritten(text, case.entry)
    assert other != text
    before = seen(text, case)
    assert before.status == "ok"
    assert seen(other, case) == before


def test_each_rewriting_changes_some_source() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sources("cuda")]
    assert sum(swap_operands(text, {}) != text for text in texts) >= 20
    assert sum(reorder_statements(text, {}) != text for text in texts) >= 8
