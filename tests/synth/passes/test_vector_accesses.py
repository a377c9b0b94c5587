"""Passes that rewrite single elements hold where an array is also accessed by vectors."""

from __future__ import annotations

import pytest

from synth.ir.grammar import Load, Module, Store
from synth.ir.traversal import all_exprs, walk
from synth.passes.copy_elimination import CopyElimination
from synth.passes.store_forward import StoreForward
from tests.synth.passes.programs import SPEC, assert_same, module

SPILL = "alloc v: f32[16i64] local\nv[0i32] = A[0i32]:f32x16\nfor i: i32 in 0i32 .. 16i32 step 1i32 {\n  C[i:i32] = v[i:i32]:f32\n}"


def applied(m: Module, step: CopyElimination | StoreForward) -> Module:
    assert step.check(m, SPEC)
    after = step.apply(m, SPEC)
    assert_same(m, after)
    return after


def test_an_array_set_by_a_vector_is_no_copy_of_it() -> None:
    assert CopyElimination.space(module(SPILL), SPEC) == ()


def test_an_array_read_by_a_vector_is_no_copy_of_an_element() -> None:
    text = "alloc v: f32[16i64] local\nfor i: i32 in 0i32 .. 16i32 step 1i32 {\n  v[i:i32] = A[i:i32]:f32\n}\nC[0i32] = v[0i32]:f32x16"
    assert CopyElimination.space(module(text), SPEC) == ()


@pytest.mark.parametrize("at", [0, 1, 15])
def test_a_vector_store_overwrites_each_of_its_elements(at: int) -> None:
    m = module(f"alloc v: f32[16i64] local\nv[{at}i32] = 7.0f32\nv[0i32] = A[0i32]:f32x16\nC[0i32] = v[{at}i32]:f32")
    assert not StoreForward("v").check(m, SPEC)


def test_an_element_behind_a_vector_store_is_still_known() -> None:
    m = module("alloc v: f32[17i64] local\nv[16i32] = 7.0f32\nv[0i32] = A[0i32]:f32x16\nC[0i32] = v[16i32]:f32")
    after = applied(m, StoreForward("v"))
    assert not any(isinstance(e, Load) and e.buf.name == "v" for e in all_exprs(after.body))


def test_an_element_that_a_vector_reads_is_not_dead() -> None:
    m = module("alloc v: f32[16i64] local\nv[0i32] = A[0i32]:f32x16\nv[5i32] = 7.0f32\nC[32i32] = v[5i32]:f32\nC[0i32] = v[0i32]:f32x16")
    after = applied(m, StoreForward("v"))
    assert sum(1 for s in walk(after.body) if isinstance(s, Store) and s.buf.name == "v") == 2
