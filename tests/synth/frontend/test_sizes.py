"""Byte counts divided exactly."""

from __future__ import annotations

import pytest

from synth.frontend.sizes import element_count, quotient
from synth.ir.builder import add, cast, mul
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Const, Sym, Var
from synth.ir.text import print_expr

N, M, B = Sym("n"), Sym("m"), Sym("bytes")
n, m = Var(N, DType.I32), Var(M, DType.I32)
U64 = DType.U64


def u64(value):
    return Const(value, U64)


@pytest.mark.parametrize(
    ("bytes_", "size", "wanted"),
    [
        (mul(cast(n, U64), u64(4)), 4, "cast<i64>(n:i32)"),
        (mul(u64(4), cast(mul(n, m), U64)), 4, "cast<i64>((n:i32 * m:i32))"),
        (mul(mul(u64(2), cast(n, U64)), u64(6)), 4, "(cast<u64>(n:i32) * 3u64)"),
        (add(mul(cast(n, U64), u64(8)), u64(16)), 8, "(cast<u64>(n:i32) + 2u64)"),
        (Binary("shl", cast(n, U64), u64(3)), 4, "(cast<u64>(n:i32) * 2u64)"),
        (u64(48), 4, "12i64"),
        (Var(B, U64), 4, "cast<i64>(n:i32)"),
        (u64(10), 4, "2i64"),
        (cast(n, U64), 4, "(cast<i64>(n:i32) / 4i64)"),
    ],
)
def test_counts(bytes_, size, wanted):
    found = print_expr(element_count(bytes_, size, {B: mul(cast(n, U64), u64(4))}))
    assert found in (wanted, f"cast<i64>({wanted})", f"cast<i64>{wanted}")


def test_what_does_not_divide_by_its_form_is_none():
    assert quotient(add(mul(cast(n, U64), u64(4)), u64(2)), 4, {}) is None
    assert quotient(u64(7), 2, {}) is None
