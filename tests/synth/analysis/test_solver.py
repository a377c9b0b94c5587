import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from synth.analysis import solver
from synth.analysis.linear import Env, Range
from synth.analysis.solver import Proof, contradictory, prove
from synth.ir.builder import add, i32, lt, mul, var
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Expr, Sym

X, Y = Sym("x"), Sym("y")
x, y = var(X), var(Y)


def env(lo: int, hi: int) -> Env:
    return Env(ranges={X: Range(lo, hi), Y: Range(lo, hi)})


def test_intervals_decide_without_the_solver() -> None:
    assert prove(env(0, 7), lt(x, i32(8))).proof is Proof.PROVED


def test_a_wrong_claim_is_refuted_with_a_model() -> None:
    result = prove(env(0, 7), lt(add(x, y), i32(14)))
    assert result.proof is Proof.REFUTED and result.model == {"x:i32": 7, "y:i32": 7}


def test_quotients_and_remainders_have_their_meaning() -> None:
    both = Binary("add", mul(Binary("div", x, i32(6)), i32(6)), Binary("mod", x, i32(6)))
    assert prove(env(0, 1000), Binary("eq", both, x))
    assert prove(env(0, 1000), lt(Binary("mod", x, i32(6)), i32(6)))


def test_facts_are_premises() -> None:
    known = env(0, 1000).with_fact(lt(x, y))
    assert prove(known, lt(add(x, i32(1)), add(y, i32(1))))
    assert not prove(known, lt(add(x, i32(1)), y))


def test_a_hanging_worker_is_killed_and_unknown_is_no_proof(monkeypatch: object) -> None:
    worker = solver._Worker()
    worker._process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    process = worker._process
    assert worker.ask("(check-sat)", 10) == ("unknown", ())
    assert process.poll() is not None


def test_a_worker_that_died_is_replaced() -> None:
    assert contradictory(env(0, 1), (), (Env().normal(add(x, i32(5))),)).proof is Proof.PROVED
    live = solver._worker()
    if live._process is not None:
        live._process.kill()
        live._process.wait()
    assert prove(env(3, 9), lt(add(x, y), i32(17))).proof is Proof.REFUTED


expressions = st.recursive(
    st.sampled_from([x, y]) | st.integers(-4, 12).map(i32),
    lambda inner: st.builds(lambda op, a, b: Binary(op, a, b), st.sampled_from(["add", "sub", "mul", "min", "max"]), inner, inner),
    max_leaves=5,
)


def value(e: Expr, at: dict[Sym, int]) -> int:
    if isinstance(e, Binary):
        a, b = value(e.a, at), value(e.b, at)
        return {"add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b), "max": max(a, b)}[e.op]
    return at[e.sym] if hasattr(e, "sym") else int(e.value)  # type: ignore[union-attr]


@settings(max_examples=60, deadline=None)
@given(expressions, expressions, st.integers(0, 5), st.integers(0, 5))
def test_nothing_that_a_point_refutes_is_proved(a: Expr, b: Expr, i: int, j: int) -> None:
    if prove(env(0, 5), lt(a, b)):
        assert value(a, {X: i, Y: j}) < value(b, {X: i, Y: j})


@settings(max_examples=100, deadline=None)
@given(expressions, st.integers(0, 5), st.integers(0, 5))
def test_ranges_contain_every_value(e: Expr, i: int, j: int) -> None:
    known = env(0, 5).range_of(e)
    v = value(e, {X: i, Y: j})
    assert (known.lo is None or known.lo <= v) and (known.hi is None or v <= known.hi)


def test_unsigned_arithmetic_that_may_wrap_is_opaque() -> None:
    u = var(Sym("u"), DType.U32)
    total = Binary("add", u, u)
    assert Env().normal(total).atoms() == {total}
