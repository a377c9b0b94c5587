import math

import pytest

from synth.errors import SourceError
from synth.ir.builder import add, const, f32, i32
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import (
    Alloc,
    Binary,
    Broadcast,
    Call,
    Const,
    Launch,
    Let,
    Load,
    Module,
    Param,
    Region,
    Role,
    Space,
    Store,
    Sym,
    Unary,
    Var,
)
from synth.ir.text import parse_module, print_body, print_expr, print_module

EVERYTHING = """\
module f(a: f32[cast<i64>(n:i32)] host in const, b: f32[] global inout, n: i32, t: bool) dialect=cuda result=0u32 warp=64 assume [t:bool] {
  let x = (n:i32 + 1i32)
  let x~2 = select(t:bool, x:i32, -(x:i32))
  alloc table: f32[2i32, 2i32] const = [0.1f32, -0.0f32, f32(-inf), 1e-30f32]
  alloc v: f32x4[] local
  v[] = vec(1.0f32, 2.0f32, f32(nan), a[0i32]:f32)
  b[0i32]@(v[]:f32x4 < broadcast<4>(1.0f32)) = a[x:i32]:f32x4@broadcast<4>(true)
  for.omp i: i32 in 0i32..n:i32 step 2i32 {
    while !((t:bool && false)) {
      break
    }
    if (i:i32 == 3i32) {
      continue
    } else {
      b[i:i32] = math.fma<f32>(lane<1>(v[]:f32x4), reduce.add(v[]:f32x4), cast<f32>(bitcast<u32>(a[0i32]:f32)))
    }
  }
  call host.copy(&b[0i32] of [x:i32]; &a[0i32] of [4i32])
  call host.fill(&b[0i32] of [x:i32]; 0.5f32)
  launch "k<float>" {
    for.block.z bz: u32 in 0u32..1u32 step 1u32 {
      sync block
      return
    }
  }
}
"""


def test_every_construct_reads_back():
    module = parse_module(EVERYTHING)
    assert print_module(module) == EVERYTHING
    assert module.name == "f" and module.dialect == "cuda" and module.result == Const(0, DType.U32)
    assert [p.role for p in module.params] == [Role.IN, Role.INOUT, Role.UNKNOWN, Role.UNKNOWN]


def test_floats_are_exact():
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, math.inf]
    x = Sym("x")
    module = Module("f", (), tuple(Store(x, (), Const(v, DType.F64)) for v in values))
    module = Module("f", (), (Alloc(x, DType.F64, (), Space.LOCAL), *module.body))
    read = parse_module(print_module(module))
    got = [s.value.value for s in read.body if isinstance(s, Store)]
    assert list(map(repr, got)) == list(map(repr, values))


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32])
def test_narrow_floats_are_exact(dtype):
    x = Sym("x")
    for value in (0.1, 1 / 3, 1e-7, 60000.0, 1.1754943508222875e-38):
        literal = const(value, dtype)
        text = print_module(Module("f", (), (Alloc(x, dtype, (), Space.LOCAL), Store(x, (), literal))))
        assert parse_module(text).body[1].value == literal
    assert print_expr(f32(0.1)) == "0.1f32"


def test_symbols_that_share_a_name_or_look_like_keywords():
    i, j, buf = Sym("let"), Sym("let"), Sym("a b")
    body = (
        Let(i, i32(1)),
        Let(j, add(Var(i, DType.I32), i32(-2))),
        Alloc(buf, DType.I32, (), Space.LOCAL),
        Store(buf, (), Var(j, DType.I32)),
    )
    text = print_module(Module("f", (), body))
    assert text.splitlines()[1:5] == [
        "  let let = 1i32",
        "  let let~2 = (let:i32 + -2i32)",
        '  alloc "a b": i32[] local',
        '  "a b"[] = let~2:i32',
    ]
    assert print_module(parse_module(text)) == text


def test_extents_may_name_later_parameters():
    n, a = Sym("n"), Sym("a")
    module = Module("f", (Param(a, DType.F32, (Var(n, DType.I64),)), Param(n, DType.I64)), ())
    assert print_module(parse_module(print_module(module))) == print_module(module)


def test_bodies_and_expressions_print_for_messages():
    a = Sym("a")
    assert print_expr(Unary("neg", Load(a, (i32(3),), DType.F32))) == "-(a[3i32]:f32)"
    assert print_expr(Binary("min", i32(1), i32(2))) == "min(1i32, 2i32)"
    assert print_body((Launch("k", (Call("host.fill", (Region(a, (i32(0),)),), (f32(1),)),)),)).splitlines() == [
        "launch k {",
        "  call host.fill(&a[0i32]; 1.0f32)",
        "}",
    ]
    assert Broadcast(f32(1), 4).type == Vec(DType.F32, 4)


@pytest.mark.parametrize(
    ("line", "message", "column"),
    [
        ("let x = y:i32", "symbol 'y' is not bound", 11),
        ("let x = 1i32 let x = 2i32", "symbol 'x' is bound twice", 20),
        ("let x = 1q32", "'q32' is no type", 12),
        ("let x = (1i32 $ 2i32)", "unexpected character '$'", 17),
        ("let x = sqrt(1.0f32)", "expected '<' but found '('", 15),
        ("sync grid", "'grid' is no scope", 8),
        ("x = 3i32", "'x' starts no statement", 3),
    ],
)
def test_errors_say_where(line, message, column):
    with pytest.raises(SourceError) as caught:
        parse_module(f"module f() dialect=c {{\n  {line}\n}}\n")
    assert caught.value.message == message
    assert (caught.value.location.line, caught.value.location.column) == (2, column)


def test_hostile_texts_are_refused():
    for text in ("", "module", "module f(", "module f(x: i32", "module f() dialect=c {", "module f() dialect=c {} x"):
        with pytest.raises(SourceError):
            parse_module(text)
    deep = "module f() dialect=c { let x = " + "-(" * 5000
    with pytest.raises(SourceError, match="nested too deeply"):
        parse_module(deep)
