"""Values of expressions, against values computed by hand from the C and C++ standards."""

import numpy as np
import pytest

I32_MIN = -(2**31)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 / -2", -3),
        ("7 % -2", 1),
        ("-1 >> 1", -1),
        ("1 << 4 | 3", 19),
        ("~5", -6),
        ("5 & 3 ^ 1", 0),
        ("!0 + !7", 1),
        ("(1, 2, 3)", 3),
        ("'A' + 1", 66),
        ("'\\n'", 10),
        ("0x1F + 010 + 0b11", 42),
        ("sizeof(double) * 3", 24),
        ("(int)3.99f - (int)-3.99", 6),
        ("int(2.5) + static_cast<int>(1.5)", 3),
        ("true + true", 2),
        ("3 > 2 > 1", 0),
        ("(unsigned char)300", 44),
        ("(signed char)200", -56),
        ("(bool)0.1f", 1),
    ],
)
def test_integer_constants(evaluate, expression, expected):
    assert evaluate(f"o[0] = {expression};")[0] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("unsigned a = 3, b = 5; o[0] = (a - b) > 0;", 1),  # wraps to 2^32 - 2
        ("unsigned a = 3; int b = -5; o[0] = a + b > 0;", 1),
        ("int a = -1; unsigned b = 1; o[0] = a < b;", 0),
        ("int a = -1; unsigned long b = 1; o[0] = a < b;", 0),
        ("int a = -1; long b = 1; o[0] = a < b;", 1),
        ("unsigned char a = 200, b = 100; o[0] = a + b;", 300),  # promoted to int
        ("unsigned char a = 200; a += 100; o[0] = a;", 44),
        ("signed char a = 127; a++; o[0] = a;", -128),
        ("unsigned short a = 65535; a++; o[0] = a;", 0),
        ("unsigned short a = 65535, b = 65535; unsigned c = (unsigned)a * b; o[0] = c == 4294836225u;", 1),
        ("char c = (char)200; o[0] = c;", -56),  # char is signed on x86-64
        ("unsigned u = 0; u--; o[0] = u == 4294967295u;", 1),
        ("int x = 7; x /= 2.9f; o[0] = x;", 2),
        ("int x = 10; x *= 0.35; o[0] = x;", 3),
        ("long x = 1; x <<= 40; o[0] = x >> 38;", 4),
        ("unsigned x = 0x80000000u; o[0] = x >> 31;", 1),
        ("int x = -16; o[0] = x >> 2;", -4),
        ("bool b = 5; o[0] = b;", 1),
        ("int n = 5; o[0] = -n % 3;", -2),
        ("unsigned a = 7; o[0] = -a == 4294967289u;", 1),
        ("unsigned char a = 1; o[0] = ~a;", -2),
        ("short a = -1; unsigned short b = a; o[0] = a == b;", 0),
        ("float f = 16777217; o[0] = f == 16777216.0f;", 1),
    ],
)
def test_promotions_and_conversions(evaluate, body, expected):
    assert evaluate(body)[0] == expected


def test_float_and_double_arithmetic_are_kept_apart(evaluate):
    got = evaluate("o[0] = 0.1f + 0.2f; o[1] = 0.1 + 0.2; o[2] = 0.1f + 0.2; o[3] = x * 0.1; o[4] = x * 0.1f;", np.float64, 5, x=3.0)
    f = np.float32
    expected = [np.float64(f(0.1) + f(0.2)), 0.1 + 0.2, np.float64(f(0.1)) + 0.2, 3.0 * 0.1, np.float64(f(3.0) * f(0.1))]
    assert got.tolist() == [float(e) for e in expected]


@pytest.mark.parametrize(
    ("literal", "value"),
    [("0x1.8p3f", 12.0), ("1e-3", 1e-3), (".5f", 0.5), ("1'000.5", 1000.5), ("3.4e38f * 10", np.inf), ("1u - 2", 4294967295.0)],
)
def test_literals(evaluate, literal, value):
    assert evaluate(f"o[0] = {literal};", np.float64)[0] == value


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int i = 3; o[0] = i++; o[1] = i;", [3, 4]),
        ("int i = 3; o[0] = ++i; o[1] = i--; o[2] = i;", [4, 4, 3]),
        ("int i = 0; o[i++] = 5; o[i++] = 6; o[i] = i;", [5, 6, 2]),
        ("int a, b, c; a = b = c = 4; o[0] = a + b + c;", [12]),
        ("int a = 1; o[0] = (a += 2) * 10; o[1] = a;", [30, 3]),
        ("int i = 1; i = i++ + 1; o[0] = i;", [2]),  # C++17: the right side is complete before the assignment
        ("int i = 0; int a[3] = {7, 8, 9}; o[i] = a[++i]; ", [0, 8]),  # C++17: right before left
        ("int i = 2; o[0] = i > 1 ? i++ : i--; o[1] = i;", [2, 3]),
        ("int i = 0; if (i && ++i) o[0] = 1; o[1] = i;", [0, 0]),
        ("int i = 1; if (i || ++i) o[0] = 1; o[1] = i;", [1, 1]),
        ("int i = 1; o[0] = i-- && i; o[1] = i;", [0, 0]),
        ("int i = 5; int j = (i++, i * 2); o[0] = j;", [12]),
        ("int x = 3; int y = x; x = 9; o[0] = y; o[1] = x;", [3, 9]),
        ("int t = 1, u = 2; { int s = t; t = u; u = s; } o[0] = t; o[1] = u;", [2, 1]),
        ("struct P { int a, b, c; }; int i = 1; P p = {i, i++, i}; o[0] = p.a * 100 + p.b * 10 + p.c;", [112]),
        ("int n = 4; o[0] = n > 3 ? n > 5 ? 1 : 2 : 3;", [2]),
    ],
)
def test_side_effects_happen_in_order(evaluate, body, expected):
    assert evaluate(body, np.int32, 4)[: len(expected)].tolist() == expected


def test_conditional_and_short_circuit_do_not_touch_the_other_side(evaluate):
    a = np.array([1, 2], np.int32)
    got = evaluate("o[0] = n < 2 ? a[n] : -1; o[1] = n < 2 && a[n] > 0; o[2] = n >= 2 || a[n] > 0;", np.int32, 3, a=a, n=100)
    assert got.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("fmaxf(x, 1.0f)", 2.0),
        ("fminf(x, 1.0f)", 1.0),
        ("sqrtf(x * 8)", 4.0),
        ("fabsf(-x)", 2.0),
        ("floorf(-2.5f)", -3.0),
        ("powf(x, 3)", 8.0),
        ("fmaf(x, 3.0f, 1.0f)", 7.0),
        ("(float)abs(-3)", 3.0),
        ("(float)isnan(x)", 0.0),
        ("fmodf(7.5f, x)", 1.5),
        ("roundf(2.5f)", 3.0),
        ("(float)lrintf(2.5f)", 2.0),
        ("exp2f(3.0f)", 8.0),
    ],
)
def test_math_library(evaluate, call, expected):
    assert evaluate(f"o[0] = {call};", np.float32, prelude="#include <math.h>\n#include <stdlib.h>", x=2.0)[0] == np.float32(expected)


def test_double_functions_are_computed_in_double(evaluate):
    got = evaluate("o[0] = exp(1.0); o[1] = expf(1.0f);", np.float64, 2, prelude="#include <math.h>")
    assert abs(got[0] - np.e) < 1e-15
    assert got[1] == np.float64(np.float32(got[1]))
    assert got[0] != got[1]


def test_constants(evaluate):
    prelude = """
        #define TILE 8
        enum { RED = 2, GREEN };
        enum class Mode : int { A = 5 };
        constexpr int K = TILE * 2;
        const float SCALE = 0.5f;
        static const int TABLE[2][3] = {{1, 2, 3}, {4, 5}};
        template <int N> struct Box { static constexpr int size = N + 1; };
        constexpr int twice(int x) { return 2 * x; }
    """
    body = """
        o[0] = K; o[1] = GREEN; o[2] = (int)Mode::A; o[3] = SCALE * 4; o[4] = TABLE[1][n];
        o[5] = Box<6>::size; o[6] = twice(4); int a[K]; o[7] = sizeof(a);
    """
    assert evaluate(body, np.int32, 8, prelude=prelude, n=1).tolist() == [16, 3, 5, 2, 5, 7, 8, 64]
