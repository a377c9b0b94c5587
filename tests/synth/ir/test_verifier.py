import pytest

from synth.errors import InternalError
from synth.ir import verifier
from synth.ir.builder import f32, i32
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Alloc, Binary, Cast, Const, Let, Load, Location, MakeVec, Module, Select, Space, Store, Sym, Unary, Var
from synth.ir.text import parse_module

LAUNCH = """module f(a: f32[] global inout) dialect=cuda {{
  launch k {{
    for.block.z bz: u32 in 0u32..1u32 step 1u32 {{
      for.block.y by: u32 in 0u32..1u32 step 1u32 {{
        for.block.x bx: u32 in 0u32..1u32 step 1u32 {{
          alloc s: f32[8i32] shared
          for.thread.z tz: u32 in 0u32..1u32 step 1u32 {{
            for.thread.y ty: u32 in 0u32..1u32 step 1u32 {{
              for.thread.x tx: u32 in 0u32..8u32 step 1u32 {{
                {body}
              }}
            }}
          }}
        }}
      }}
    }}
  }}
}}
"""


def messages(text: str) -> list[str]:
    return [str(v) for v in verifier.verify(parse_module(text))]


def in_body(body: str, params: str = "a: f32[4i32] host inout, c: f32[] host in const, n: i32") -> list[str]:
    return messages(f"module f({params}) dialect=c {{\n{body}\n}}")


def test_a_launch_is_well_formed():
    body = "if (tx:u32 < 3u32) { return }\n sync block\n alloc m: u32[] local\n call warp.activemask(&m[];)\n s[tx:u32] = 1.0f32"
    assert messages(LAUNCH.format(body=body)) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let x = (n:i32 + 1i64)", "the operands of add have types i32 and i64: (n:i32 + 1i64) (at 'x')"),
        ("let x = n:i64", "'n' has type i32, used as i64: n:i64 (at 'x')"),
        ("let x = n[]:i32", "'n' is no buffer in scope: n[]:i32 (at 'x')"),
        ("let x = a[0i32, 1i32]:f32", "2 indexes into 'a' of rank 1: a[0i32, 1i32]:f32 (at 'x')"),
        ("let x = a[1.0f32]:f32", "an index of type f32: a[1.0f32]:f32 (at 'x')"),
        ("let x = a[0i32]:i32x4", "access as i32x4 to 'a' of f32: a[0i32]:i32x4 (at 'x')"),
        ("let x = a[0i32]:f32x4@(n:i32 < 1i32)", "a mask of type bool on an access of f32x4: a[0i32]:f32x4@(n:i32 < 1i32) (at 'x')"),
        ("let x = (true + false)", "add of bool: (true + false) (at 'x')"),
        ("let x = (1.0f32 % 2.0f32)", "mod of f32: (1.0f32 % 2.0f32) (at 'x')"),
        ("let x = !(n:i32)", "lnot of i32: !(n:i32) (at 'x')"),
        ("let x = select(true, 1i32, 1.0f32)", "the branches of select have types i32 and f32: select(true, 1i32, 1.0f32) (at 'x')"),
        ("let x = select(n:i32, 1i32, 2i32)", "select by i32 of i32: select(n:i32, 1i32, 2i32) (at 'x')"),
        ("let x = math.exp<i32>(n:i32)", "math.exp of i32: math.exp<i32>(n:i32) (at 'x')"),
        ("let x = math.pow<f32>(1.0f32)", "math.pow with 1 arguments: math.pow<f32>(1.0f32) (at 'x')"),
        ("let x = bitcast<i64>(1.0f32)", "a bitcast from f32 to i64: bitcast<i64>(1.0f32) (at 'x')"),
        ("let x = cast<f32x4>(n:i32)", "a cast from i32 to f32x4 changes the number of lanes: cast<f32x4>(n:i32) (at 'x')"),
        ("let x = lane<4>(a[0i32]:f32x4)", "lane 4 of f32x4: lane<4>(a[0i32]:f32x4) (at 'x')"),
        ("let x = reduce.and(a[0i32]:f32x4)", "reduction by and of f32x4: reduce.and(a[0i32]:f32x4) (at 'x')"),
        ("let x = 300u8", "300 is no u8: 300u8 (at 'x')"),
        ("c[0i32] = 1.0f32", "a store to a const parameter (at 'c')"),
        ("a[0i32] = 1i32", "access as i32 to 'a' of f32 (at 'a')"),
        ("break", "break outside a loop"),
        ("sync block", "sync block outside thread loops"),
        ("for.omp i: i32 in 0i32..n:i32 step 1i32 { break }", "break out of a parallel loop (at 'i')"),
        ("for.omp i: i32 in 0i32..n:i32 step 1i32 { return }", "return out of a parallel loop (at 'i')"),
        ("for i: i32 in 0i32..n:i32 step 0i32 { }", "the step is not positive (at 'i')"),
        ("for i: i32 in 0u32..n:i32 step 1i32 { }", "the lower bound has type u32, the loop variable i32 (at 'i')"),
        ("if n:i32 { }", "a condition is a bool, not i32: n:i32"),
        ("alloc t: f32[2i32] local = [1.0f32]", "1 initial values for the shape ['2i32'] (at 't')"),
        ("alloc t: f32x4[2i32] local", "arrays hold scalars only (at 't')"),
        ("call host.copy(&a[0i32]; 1.0f32)", "an argument of host.copy is a region"),
        ("call nonsense(;)", "unknown operation nonsense"),
        ("launch k { }", "the launch nest has no single loop where block.z belongs"),
    ],
)
def test_violations(body, expected):
    assert in_body(body) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("alloc t: f32[2i32] shared", "a shared buffer is allocated outside the thread loops (at 't')"),
        ("alloc t: f32[2i32] global", "a global buffer is allocated outside launches (at 't')"),
        ("sync device", "sync device inside a launch"),
        ("continue", "continue out of a parallel loop (at 'tx')"),
        ("alloc t: i32[] local\n call warp.shfl(&t[]; 1u32, 1.0f32, 0i32, 32i32)", "warp.shfl moves f32 to a buffer of i32 (at 't')"),
    ],
)
def test_violations_in_launches(body, expected):
    assert messages(LAUNCH.format(body=body)) == [expected]


def test_scopes_end_with_their_body():
    x = Sym("x")
    inner = parse_module("module f(n: i32) dialect=c { if (n:i32 < 1i32) { let x = 1i32 } }")
    declared = inner.body[0].then[0]
    module = Module("f", inner.params, (*inner.body, Let(x, Var(declared.sym, DType.I32))))
    assert [v.message for v in verifier.verify(module)] == ["'x' is no value in scope: x:i32"]


def test_symbols_are_bound_once():
    x = Sym("x")
    place = Location("k.cu", 3, 4)
    found = verifier.verify(Module("f", (), (Let(x, i32(1)), Let(x, i32(2), loc=place))))
    assert [(v.message, v.location, v.site) for v in found] == [("the symbol is bound more than once", place, "x~2")]


def test_what_the_text_cannot_spell():
    x = Sym("x")
    bad = (
        Const(0.1, DType.F32),
        Const(1, DType.BOOL),
        Const(True, DType.I32),
        MakeVec((i32(1), f32(1))),
        Unary("sqrt", f32(1)),
        Binary("pow", f32(1), f32(1)),
        Cast(i32(1), Vec(DType.I32, 1)),
        Select(Load(x, (), DType.BOOL), i32(1), i32(2)),
    )
    for e in bad:
        assert verifier.verify(Module("f", (), (Let(Sym("y"), e),))), e


def test_check_raises():
    x = Sym("x")
    with pytest.raises(InternalError, match="no buffer in scope"):
        verifier.check(Module("f", (), (Store(x, (), i32(1)),)))
    verifier.check(Module("f", (), (Alloc(x, DType.I32, (), Space.LOCAL), Store(x, (), i32(1)))))
