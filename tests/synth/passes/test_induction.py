import pytest

from synth.ir.grammar import Alloc, For, Module, While
from synth.ir.text import print_module
from synth.ir.traversal import walk
from synth.passes.counted_while import CountedWhile
from synth.passes.induction import Induction
from synth.passes.simplify import Simplify
from synth.passes.store_forward import StoreForward
from tests.synth.passes.programs import BUFFERS, SPEC, assert_same, module, refusal

WITH_N = f"{BUFFERS}, n: i32"


def while_loop(test: str, change: str = "(old:i32 - 1i32)", start: str = "n:i32") -> Module:
    return module(
        f"alloc c: i32[] local\nalloc s: f32[] local\nc[] = {start}\ns[] = 0.0f32\nwhile true {{\n  let old = c[]:i32\n  c[] = {change}\n"
        f"  if {test} {{\n    break\n  }}\n  s[] = (s[]:f32 + A[((old:i32 % 8i32) + 8i32)]:f32)\n}}\n"
        "C[0i32] = s[]:f32\nC[(c[]:i32 + 9i32)] = 1.0f32",
        WITH_N,
    )


@pytest.mark.parametrize(
    ("test", "change", "start"),
    [
        ("(old:i32 <= 0i32)", "(old:i32 - 1i32)", "n:i32"),
        ("(old:i32 < 3i32)", "(old:i32 - 2i32)", "n:i32"),
        ("(0i32 >= old:i32)", "(old:i32 - 3i32)", "n:i32"),
        ("(old:i32 >= n:i32)", "(old:i32 + 1i32)", "0i32"),
        ("!((old:i32 <= n:i32))", "(old:i32 + 4i32)", "1i32"),
        ("(c[]:i32 <= 0i32)", "(old:i32 - 2i32)", "n:i32"),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_a_counting_while_becomes_a_for(test: str, change: str, start: str, n: int) -> None:
    m = while_loop(test, change, start)
    step = CountedWhile("c")
    assert CountedWhile.space(m, SPEC) == (step,)
    after = step.apply(m, SPEC)
    assert not any(isinstance(s, While) for s in walk(after.body))
    assert_same(m, after, {"n": n})


def test_a_while_with_a_condition_of_its_own() -> None:
    m = module(
        "alloc c: i32[] local\nc[] = 2i32\nwhile (c[]:i32 < n:i32) {\n  C[c[]:i32] = A[c[]:i32]:f32\n  c[] = (c[]:i32 + 3i32)\n}", WITH_N
    )
    for n in (0, 2, 3, 11):
        assert_same(m, CountedWhile("c").apply(m, SPEC), {"n": n})


@pytest.mark.parametrize(
    ("test", "change", "words"),
    [
        ("(old:i32 <= 0i32)", "(old:i32 + 1i32)", "does not count towards"),
        ("(old:i32 <= 0i32)", "(old:i32 * 2i32)", "does not count towards"),
        ("(old:i32 == 0i32)", "(old:i32 - 1i32)", "comparison"),
        ("(A[0i32]:f32 > 1.0f32)", "(old:i32 - 1i32)", "comparison"),
    ],
)
def test_other_loops_are_refused(test: str, change: str, words: str) -> None:
    assert words in refusal(CountedWhile("c"), while_loop(test, change))


POINTER = (
    "alloc p: i64[] local\nalloc s: f32[] local\np[] = 1i64\ns[] = 0.0f32\nfor k: i32 in 0i32..{hi} step {step} {{\n"
    "  s[] = (s[]:f32 + A[p[]:i64]:f32)\n  p[] = (p[]:i64 + 2i64)\n  C[p[]:i64] = s[]:f32\n}}\nC[0i32] = s[]:f32\nC[p[]:i64] = 7.0f32"
)


@pytest.mark.parametrize(("hi", "step"), [("n:i32", "1i32"), ("9i32", "1i32"), ("n:i32", "3i32")])
@pytest.mark.parametrize("n", [0, 1, 8])
def test_a_walking_pointer_becomes_a_function_of_the_loop(hi: str, step: str, n: int) -> None:
    m = module(POINTER.format(hi=hi, step=step), WITH_N)
    application = Induction("p", "k")
    assert application in Induction.space(m, SPEC)
    after = application.apply(m, SPEC)
    assert_same(m, after, {"n": n})
    loop = next(s for s in walk(after.body) if isinstance(s, For))
    assert "p[]" not in print_module(Module("x", (), (loop,)))


def test_index_and_loop_are_affine_afterwards() -> None:
    m = Induction("p", "k").apply(module(POINTER.format(hi="9i32", step="1i32"), WITH_N), SPEC)
    m = Simplify().apply(StoreForward("p").apply(m, SPEC), SPEC)
    assert not any(isinstance(s, Alloc) and s.sym.name == "p" for s in walk(m.body))
    assert "A[" in print_module(m) and "k:i32" in print_module(m)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("p[] = (p[]:i64 * 2i64)", "fixed amount"),
        ("if (k:i32 > 3i32) {\n  p[] = (p[]:i64 + 2i64)\n}", "not always"),
        ("p[] = (p[]:i64 + cast<i64>(k:i32))", "fixed amount"),
        ("p[] = (p[]:i64 + 1i64)\n  p[] = (p[]:i64 + 1i64)", "more than once"),
        ("if (k:i32 > 3i32) {\n  break\n}\np[] = (p[]:i64 + 2i64)", "early"),
    ],
)
def test_variables_that_do_not_grow_evenly_are_refused(change: str, words: str) -> None:
    text = POINTER.replace("p[] = (p[]:i64 + 2i64)", change.replace("{", "{{").replace("}", "}}"))
    assert words in refusal(Induction("p", "k"), module(text.format(hi="4i32", step="1i32"), WITH_N))
