import math

import numpy as np
import pytest

from synth.ir import interpreter, verifier
from synth.ir.builder import const
from synth.ir.dtypes import DType
from synth.ir.grammar import Location
from synth.ir.interpreter import InterpreterError
from synth.ir.text import parse_module


def run(body: str, params: str, **args: object) -> None:
    module = parse_module(f"module f({params}) dialect=c {{\n{body}\n}}")
    verifier.check(module)
    interpreter.run(module, args, max_steps=100_000)


def value(expression: str, dtype: str, numpy: type) -> object:
    out = np.zeros(1, numpy)
    run(f"o[0i32] = {expression}", f"o: {dtype}[] host out", o=out)
    return out[0]


def failure(body: str, params: str = "o: f32[] host out", **args: object) -> str:
    given = args or {"o": np.zeros(4, np.float32)}
    with pytest.raises(InterpreterError) as caught:
        run(body, params, **given)
    return f"{caught.value.kind}: {caught.value.message}"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(2147483647i32 + 1i32)", -(2**31)),
        ("(-7i32 / 2i32)", -3),
        ("(-7i32 % 2i32)", -1),
        ("(7i32 % -2i32)", 1),
        ("(-8i32 >> 1i32)", -4),
        ("(65536i32 * 65536i32)", 0),
        ("-(-2147483648i32)", -(2**31)),
        ("cast<i32>((4294967295u32 >> 28u32))", 15),
        ("cast<i32>(cast<i8>(200i32))", -56),
        ("cast<i32>(-3.99f32)", -3),
        ("cast<i32>((200u8 + 100u8))", 44),
        ("~(5i32)", -6),
        ("bitcast<i32>(-0.0f32)", -(2**31)),
        ("select((1i32 < 2i32), 3i32, (1i32 / 0i32))", 3),
        ("cast<i32>((false && ((1i32 / 0i32) == 1i32)))", 0),
        ("math.abs<i32>(-5i32)", 5),
        ("reduce.add(vec(1i32, 2i32, 3i32, 4i32))", 10),
        ("lane<2>((broadcast<4>(5i32) - vec(1i32, 2i32, 3i32, 4i32)))", 2),
        ("lane<1>(select(vec(true, false), vec(1i32, 2i32), vec(3i32, 4i32)))", 4),
        ("lane<0>((broadcast<2>(1i32) << broadcast<2>(40i32)))", 0),
        ("lane<0>(bitcast<i32x2>(vec(-1i64)))", -1),
    ],
)
def test_integers(expression, expected):
    assert value(expression, "i32", np.int32) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(1.0f32 / 3.0f32)", np.float32(1) / np.float32(3)),
        ("(16777216.0f32 + 1.0f32)", 16777216.0),
        ("(1.0f32 / 0.0f32)", math.inf),
        ("(-1.0f32 / 0.0f32)", -math.inf),
        ("(3.4028235e38f32 * 2.0f32)", math.inf),
        ("min(f32(nan), 2.0f32)", 2.0),
        ("max(2.0f32, f32(nan))", 2.0),
        ("math.exp<f32>(1.0f32)", np.float32(math.e)),
        ("math.log<f32>(0.0f32)", -math.inf),
        ("math.round<f32>(2.5f32)", 3.0),
        ("math.round<f32>(-0.5f32)", -1.0),
        ("math.rint<f32>(2.5f32)", 2.0),
        ("math.rsqrt<f32>(4.0f32)", 0.5),
        ("math.pow<f32>(-8.0f32, 2.0f32)", 64.0),
        ("cast<f32>(16777217i32)", 16777216.0),
        ("cast<f32>(cast<f16>(0.1f32))", np.float32(np.float16(0.1))),
        ("cast<f32>(cast<bf16>(0.1f32))", 0.10009765625),
        ("cast<f32>((2048.0f16 + 1.0f16))", 2048.0),
        # 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last term survives only when the product is not rounded.
        ("math.fma<f32>(1.000244140625f32, 1.000244140625f32, -1.00048828125f32)", 2.0**-24),
    ],
)
def test_floats(expression, expected):
    assert value(expression, "f32", np.float32) == expected


def test_nan_and_zero_signs():
    assert math.isnan(value("(0.0f32 / 0.0f32)", "f32", np.float32))
    assert math.isnan(value("math.sqrt<f32>(-1.0f32)", "f32", np.float32))
    assert math.copysign(1, value("-(0.0f32)", "f32", np.float32)) == -1
    assert math.copysign(1, value("math.round<f32>(-0.25f32)", "f32", np.float32)) == -1


def test_fma_in_double_is_exact():
    a = 1 + 2.0**-30
    out = np.zeros(1)
    run(f"o[0i32] = math.fma<f64>({a!r}f64, {a!r}f64, {-(1 + 2.0**-29)!r}f64)", "o: f64[] host out", o=out)
    assert out[0] == 2.0**-60


def test_control_flow():
    out = np.zeros(10, np.int32)
    run(
        """
        for i: i32 in 0i32..10i32 step 1i32 {
          if (i:i32 == 2i32) { continue }
          if (i:i32 == 6i32) { break }
          o[i:i32] = i:i32
        }
        alloc j: i32[] local
        j[] = 9i32
        while (j[]:i32 > 7i32) { o[j[]:i32] = -1i32  j[] = (j[]:i32 - 1i32) }
        if (n:i32 > 0i32) { return }
        o[0i32] = 77i32
        """,
        "o: i32[] host inout, n: i32",
        o=out,
        n=1,
    )
    assert out.tolist() == [0, 1, 0, 3, 4, 5, 0, 0, -1, -1]


def test_masks_suppress_lanes():
    out = np.full(4, 9, np.float32)
    run(
        """
        let m = vec(true, true, false, false)
        o[2i32]@m:boolx4 = (a[2i32]:f32x4@m:boolx4 + broadcast<4>(1.0f32))
        """,
        "o: f32[] host inout, a: f32[] host in",
        o=out,
        a=np.arange(4, dtype=np.float32),
    )
    assert out.tolist() == [9, 9, 3, 4]


def test_two_dimensional_arrays_and_tables():
    out = np.zeros(2, np.int32)
    run(
        """
        alloc t: i32[2i32, 3i32] const = [1i32, 2i32, 3i32, 4i32, 5i32, 6i32]
        o[0i32] = t[1i32, 0i32]:i32
        o[1i32] = reduce.add(t[0i32, 1i32]:i32x2)
        """,
        "o: i32[] host out",
        o=out,
    )
    assert out.tolist() == [4, 5]


def test_host_copies_move_what_is_uninitialised_too():
    out = np.full(4, 7, np.float32)
    run(
        """
        alloc d: f32[4i32] global
        d[1i32] = 2.0f32
        call host.copy(&o[0i32] of [4i32]; &d[0i32] of [4i32])
        call host.fill(&o[3i32] of [1i32]; 5.0f32)
        """,
        "o: f32[] host out",
        o=out,
    )
    assert out.tolist() == [7, 2, 7, 5]


def test_bfloat_buffers_are_bits():
    bits = np.array([0x3F80, 0x4000], np.uint16)
    out = np.zeros(2, np.uint16)
    run("o[0i32] = (a[0i32]:bf16 + a[1i32]:bf16)\n o[1i32] = bf16(inf)", "o: bf16[] host out, a: bf16[] host in", o=out, a=bits)
    assert [hex(b) for b in out] == ["0x4040", "0x7f80"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("o[4i32] = 1.0f32", "out_of_bounds: index 4 of 'o' is outside dimension 0 of 4 elements"),
        ("o[-1i32] = 1.0f32", "out_of_bounds: index -1 of 'o' is outside dimension 0 of 4 elements"),
        ("o[1i32] = broadcast<4>(1.0f32)", "out_of_bounds: index 1..4 of 'o' is outside dimension 0 of 4 elements"),
        ("let x = o[0i32]:f32", "uninitialised: element 0 of 'o' is read before it is written"),
        ("alloc x: f32[] local\n o[0i32] = x[]:f32", "uninitialised: element 0 of 'x' is read before it is written"),
        ("o[0i32] = 1.0f32\n let x = reduce.add(o[0i32]:f32x2)", "uninitialised: a lane of a vector is read before it is written"),
        ("let x = (1i32 / 0i32)", "undefined: division by zero"),
        ("let x = (-2147483648i32 / -1i32)", "undefined: division of the least i32 by -1"),
        ("let x = (1i32 << 32i32)", "undefined: shift of i32 by 32"),
        ("let x = cast<i32>(3e9f32)", "undefined: conversion of 3000000000.0 to i32"),
        ("let x = cast<u8>(-1.0f32)", "undefined: conversion of -1.0 to u8"),
        ("while true { let x = 1i32 }", "limit: more than 100000 steps"),
        ("call host.copy(&o[0i32] of [2i32]; &o[0i32] of [3i32])", "undefined: a copy of 3 elements to 2"),
        ("call host.fill(&o[2i32] of [3i32]; 1.0f32)", "out_of_bounds: 3 elements from 2 of 'o'"),
    ],
)
def test_errors(body, expected):
    assert failure(body) == expected


def test_errors_know_their_place():
    module = parse_module("module f(o: f32[] host out) dialect=c { o[9i32] = 1.0f32 }")
    placed = type(module.body[0])(*(getattr(module.body[0], n) for n in ("buf", "index", "value")), loc=Location("k.cu", 7, 3))
    with pytest.raises(InterpreterError, match=r"k\.cu:7:3"):
        interpreter.run(type(module)("f", module.params, (placed,)), {"o": np.zeros(1, np.float32)})


def test_partly_initialised_vectors_may_be_moved():
    out = np.zeros(4, np.float32)
    run(
        """
        alloc v: f32x4[] local
        v[] = vec(1.0f32, lane<1>(v[]:f32x4), lane<2>(v[]:f32x4), lane<3>(v[]:f32x4))
        o[0i32] = (v[]:f32x4 + v[]:f32x4)
        """,
        "o: f32[] host out",
        o=out,
    )
    assert out.tolist() == [2, 0, 0, 0]


def test_arguments_are_checked():
    params = "o: f32[n:i32] host out, n: i32"
    o = np.zeros(4, np.float32)
    assert failure("", params, o=o) == "argument: arguments do not match the parameters of f: n"
    assert failure("", params, o=o, n=5) == "argument: 'o' has 4 elements, its extent is 5"
    assert failure("", params, o=o.astype(float), n=4) == "argument: 'o' wants a flat array of float32, not 1-d float64"
    assert failure("", params, o=o, n=2**31) == f"argument: 'n' = {2**31} is no i32"
    both = {"o": o, "a": o}
    assert failure("", "o: f32[] host out, a: f32[] host in", **both) == "argument: 'o' and 'a' share memory"


def test_assumptions_are_checked():
    module = parse_module("module f(n: i32) dialect=c assume [(n:i32 == 4i32)] { }")
    interpreter.run(module, {"n": 4})
    with pytest.raises(InterpreterError, match="break what f assumes"):
        interpreter.run(module, {"n": 5})


def test_literals_are_rounded_when_built():
    assert const(0.1, DType.F32).value == np.float32(0.1)
