import dataclasses
from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.errors import IllegalPassError, UsageError
from synth.passes.base import Pass
from synth.passes.loop_split import LoopSplit
from synth.passes.registry import get, names
from synth.passes.trace import parse_trace, print_trace, replay
from synth.passes.unroll import Unroll
from tests.synth.passes.programs import SPEC, assert_same, module, refusal

THE_ELEVEN = (
    "loop_recovery loop_bind loop_split loop_fuse loop_reorder loop_expansion loop_contraction cache pipeline tensorize detensorize".split()
)
COPY = "for i: i32 in 0i32..64i32 step 1i32 {\n  C[i:i32] = A[i:i32]:f32\n}"


def test_the_eleven_passes_of_the_paper_are_registered() -> None:
    assert set(THE_ELEVEN) <= set(names())
    assert all(get(name).name == name for name in names())


@pytest.mark.parametrize("name", ["pipeline", "tensorize", "detensorize"])
def test_passes_without_a_target_propose_nothing_and_say_why(name: str) -> None:
    m = module(COPY)
    assert get(name).space(m, SPEC) == ()
    assert "not available" in refusal(get(name)(), m)


def test_a_trace_reads_back_and_replays() -> None:
    text = "loop_split{site=i, factor=8, tail=bound} | unroll{site=i.inner} | parallelize{site=i.outer}"
    trace = parse_trace(text)
    assert trace[:2] == (LoopSplit("i", 8), Unroll("i.inner"))
    assert print_trace(trace) == text
    m = module(COPY)
    assert_same(m, replay(trace, m, SPEC))


def test_an_empty_trace_is_the_empty_text() -> None:
    assert parse_trace("") == ()
    assert print_trace(()) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loop_splt{site=i}", "no pass 'loop_splt'"),
        ("loop_split{site=i, factor=x}", "step 1: 'x' is not an integer"),
        ("unroll{site=i} | loop_split{place=i}", "step 2: loop_split has no field 'place'"),
        ("loop_split{site=i}", "factor"),
        ("loop_split(site=i)", "step 1 of the trace is not understood"),
    ],
)
def test_a_wrong_trace_names_the_step_and_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_trace(text)
    assert words in str(caught.value)


def test_replay_names_the_step_that_is_refused() -> None:
    with pytest.raises(IllegalPassError, match="step 2, unroll"):
        replay(parse_trace("loop_split{site=i, factor=8} | unroll{site=nowhere}"), module(COPY), SPEC)


SITES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,8}(~[2-9])?", fullmatch=True)
VALUES = {str: SITES, int: st.integers(-(2**40), 2**40), bool: st.booleans(), tuple[str, ...]: st.lists(SITES, max_size=3).map(tuple)}


@st.composite
def steps(draw: st.DrawFn) -> Pass:
    """A step of any pass, with any values of its fields."""
    kind = get(draw(st.sampled_from(names())))
    hints = get_type_hints(kind)
    return kind(**{f.name: draw(VALUES[hints[f.name]]) for f in dataclasses.fields(kind)})  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(st.lists(steps(), max_size=4))
def test_any_trace_reads_back(trace: list[Pass]) -> None:
    assert parse_trace(print_trace(trace)) == tuple(trace)


@pytest.mark.parametrize("name", names())
def test_fields_are_of_types_that_print_and_parse(name: str) -> None:
    kind = get(name)
    assert {get_type_hints(kind)[f.name] for f in dataclasses.fields(kind)} <= VALUES.keys()  # type: ignore[arg-type]
