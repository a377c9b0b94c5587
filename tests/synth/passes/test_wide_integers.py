"""64-bit values with their highest bit set: masks of wavefronts, hashes. What a pass writes must compute the same bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.ir import interpreter
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Cast, Const, Expr, For, Load, Module, Param, Role, Space, Store, Sym, Var
from synth.passes.recovery_refit import Dimension, table
from synth.passes.simplify import Simplify
from synth.spec import SPECS

U64, I64, I32 = DType.U64, DType.I64, DType.I32
A, C, I = Sym("a"), Sym("c"), Sym("i")
COUNT = 8
VALUES = (0, 1, 2**63 - 1, 2**63, 2**64 - 1, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 12345)


def leaves() -> st.SearchStrategy[Expr]:
    constants = st.sampled_from((0, 1, 2, 3, 7, 63, 255, 0x5555555555555555, 2**63, 2**64 - 1)).map(lambda n: Const(n, U64))
    index = Cast(Var(I, I32), U64)
    return st.one_of(constants, st.just(index), st.just(Load(A, (Var(I, I32),), U64)))


def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    plain = st.builds(Binary, st.sampled_from(("add", "sub", "mul", "and", "or", "xor")), inner, inner)
    amount = st.integers(0, 63).map(lambda n: Const(n, U64))
    shifted = st.builds(Binary, st.sampled_from(("shl", "shr")), inner, amount)
    divisor = st.sampled_from((1, 2, 3, 64, 2**63)).map(lambda n: Const(n, U64))
    divided = st.builds(Binary, st.sampled_from(("div", "mod")), inner, divisor)
    through = st.builds(lambda e: Cast(Cast(e, I64), U64), inner)
    return st.one_of(plain, shifted, divided, through)


EXPRESSIONS = st.recursive(leaves(), grown, max_leaves=6)


def program(value: Expr) -> Module:
    extent = (Const(COUNT, I64),)
    params = (Param(A, U64, extent, Space.HOST, Role.IN), Param(C, U64, extent, Space.HOST, Role.INOUT))
    body = (Store(C, (Var(I, I32),), value),)
    return Module("f", params, (For(I, I32, Const(0, I32), Const(COUNT, I32), Const(1, I32), body),))


def outcome(module: Module) -> list[int]:
    out = np.zeros(COUNT, np.uint64)
    interpreter.run(module, {"a": np.array(VALUES, np.uint64), "c": out})
    return [int(v) for v in out]


@given(EXPRESSIONS)
@settings(max_examples=300, deadline=None)
def test_simplification_keeps_every_bit(value: Expr) -> None:
    before = program(value)
    assert outcome(Simplify().apply(before, SPECS["avx512_vnni"])) == outcome(before)


@given(EXPRESSIONS)
@settings(max_examples=200, deadline=None)
def test_a_table_holds_what_the_interpreter_computes(value: Expr) -> None:
    found = table(value, (Dimension(I, COUNT),))
    if found is not None:
        assert [int(v) for v in found] == outcome(program(value))


def test_a_value_that_no_table_can_hold() -> None:
    assert table(Const(2**64 - 1, U64), (Dimension(I, COUNT),)) is None
    shifted = Binary("shr", Const(2**64 - 1, U64), Cast(Var(I, I32), U64))
    assert table(shifted, (Dimension(I, COUNT),)) is None
