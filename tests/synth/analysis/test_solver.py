import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given, settings
from hypothesis import strategies as st

from synth.analysis import solver
from synth.analysis.linear import Env, Range, to_expr
from synth.analysis.solver import Proof, contradictory, prove
from synth.ir.builder import add, i32, lt, mul, var
from synth.ir.dtypes import DType
from synth.ir.evaluation import meaning
from synth.ir.grammar import Binary, Cast, Expr, Select, Sym, Unary
from synth.ir.memory import InterpreterError
from synth.ir.traversal import walk_expr
from synth.ir.values import UndefinedOperation

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


def test_disjunctions_and_negations() -> None:
    either = Binary("lor", lt(x, i32(4)), Binary("gt", x, i32(2)))
    assert prove(env(0, 9), either)
    assert prove(env(0, 9), Unary("lnot", Binary("land", lt(x, i32(2)), Binary("gt", x, i32(6)))))
    assert prove(env(0, 9), Binary("lor", lt(x, i32(2)), Binary("gt", x, i32(6)))).proof is Proof.REFUTED
    assert prove(env(0, 9), Unary("lnot", lt(x, i32(5)))).proof is Proof.REFUTED


def test_facts_may_be_expressions() -> None:
    assert prove([lt(x, y), lt(y, i32(5))], lt(x, i32(4)))
    assert prove([lt(x, y)], lt(x, i32(4))).proof is Proof.REFUTED


def test_floating_point_claims_are_unknown() -> None:
    f = var(Sym("f"), DType.F32)
    for op in ("eq", "ne", "lt"):
        assert prove([], Binary(op, f, f)).proof is Proof.UNKNOWN


def test_several_threads_ask_in_turns() -> None:
    claims = [(k, lt(add(x, y), i32(k))) for k in range(20, 36)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda claim: bool(prove(env(0, 13), claim[1])), claims))
    assert answers == [k > 26 for k, _ in claims]


def test_a_forked_child_has_its_own_worker() -> None:
    prove(env(0, 7), lt(add(x, y), i32(14)))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = prove(env(0, 8), lt(add(x, y), i32(16))).proof.value
        os.write(writer, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 64) == b"refuted"
    assert prove(env(0, 9), lt(add(x, y), i32(18))).proof is Proof.REFUTED


def unsigned(e: Expr) -> Expr:
    return Cast(e, DType.U32)


def signed(e: Expr) -> Expr:
    return Cast(e, DType.I32)


def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    plain = st.builds(Binary, st.sampled_from(["add", "sub", "mul", "min", "max", "xor", "and"]), inner, inner)
    divided = st.builds(Binary, st.sampled_from(["div", "mod"]), inner, st.integers(1, 5).map(i32))
    shifted = st.builds(Binary, st.sampled_from(["shl", "shr"]), inner, st.integers(0, 3).map(i32))
    masked = st.builds(lambda a, k: Binary("and", a, i32((1 << k) - 1)), inner, st.integers(1, 4))
    wrapped = st.builds(
        lambda op, a, b: signed(Binary(op, unsigned(a), unsigned(b))), st.sampled_from(["add", "sub", "div", "mod"]), inner, inner
    )
    chosen = st.builds(lambda a, b, c, d: Select(lt(a, b), c, d), inner, inner, inner, inner)
    return plain | divided | shifted | masked | wrapped | chosen


expressions = st.recursive(st.sampled_from([x, y]) | st.integers(-4, 12).map(i32), grown, max_leaves=6)
comparisons = st.builds(Binary, st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]), expressions, expressions)
claims = comparisons | st.builds(Binary, st.sampled_from(["land", "lor"]), comparisons, comparisons)


def value(e: Expr, i: int, j: int) -> int | bool | None:
    """None where the expression has no value: division by zero, signed overflow or a shift that C leaves undefined."""
    for part in walk_expr(e):
        if part is not e and isinstance(part, Binary | Cast) and value(part, i, j) is None:
            return None
    if isinstance(e, Binary) and e.type is DType.I32 and e.op in ("add", "sub", "mul", "shl"):
        a, b = int(value(e.a, i, j) or 0), int(value(e.b, i, j) or 0)
        exact = {"add": a + b, "sub": a - b, "mul": a * b, "shl": a << max(b, 0)}[e.op]
        return exact if DType.I32.min_int <= exact <= DType.I32.max_int else None
    try:
        return meaning(e)({X.uid: i, Y.uid: j})  # type: ignore[no-any-return]
    except (UndefinedOperation, InterpreterError):
        return None


POINTS = [(i, j) for i in range(-2, 6) for j in range(-2, 6)]


@settings(max_examples=150, deadline=None)
@given(claims, st.lists(comparisons, max_size=2))
def test_nothing_that_a_point_refutes_is_proved(claim: Expr, facts: list[Expr]) -> None:
    known = env(-2, 5)
    for fact in facts:
        known = known.with_fact(fact)
    if prove(known, claim, timeout_ms=200):
        for i, j in POINTS:
            if all(value(fact, i, j) for fact in facts):
                assert value(claim, i, j) is not False


@settings(max_examples=150, deadline=None)
@given(expressions)
def test_ranges_contain_every_value(e: Expr) -> None:
    known = env(-2, 5).range_of(e)
    for i, j in POINTS:
        v = value(e, i, j)
        assert v is None or ((known.lo is None or known.lo <= v) and (known.hi is None or v <= known.hi))


@settings(max_examples=150, deadline=None)
@given(expressions)
def test_normal_forms_have_the_value_of_the_expression(e: Expr) -> None:
    form = to_expr(env(-2, 5).normal(e))
    for i, j in POINTS:
        v = value(e, i, j)
        assert v is None or value(form, i, j) == v


def test_unsigned_arithmetic_that_may_wrap_is_opaque() -> None:
    u = var(Sym("u"), DType.U32)
    total = Binary("add", u, u)
    assert Env().normal(total).atoms() == {total}
