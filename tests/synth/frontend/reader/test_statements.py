"""Loops, switches, early exits and functions."""

import numpy as np
import pytest

from synth.ir.grammar import For, While
from synth.ir.traversal import walk


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < n; i++) s += i;", 45),
        ("for (int i = 0; i <= n; ++i) s += i;", 55),
        ("for (int i = n - 1; i >= 0; --i) s = s * 2 + i;", sum(i * 2**i for i in range(10))),
        ("for (int i = n; i > 0; i -= 3) s += i;", 22),
        ("for (int i = 1; i < n; i *= 2) s += i;", 15),
        ("for (int i = 16; i > 0; i >>= 1) s += i;", 31),
        ("int i = 0; for (;;) { if (i == 5) break; s += i++; }", 10),
        ("int i = 0; for (; i < n; i += 2) s += i; s += 100 * i;", 1020),
        ("int i; for (i = 0; i < n; i++) if (i == 4) break; s = i;", 4),
        ("int i; for (i = 0; i < n; i += 4) {} s = i;", 12),
        ("int i; for (i = 0; i < n; i++) s += i; for (i = 0; i < 3; i++) s += 100;", 345),
        ("for (int i = 0; i < n; i++) { if (i % 2) continue; s += i; }", 20),
        ("int i = 0; while (i < n) { i++; if (i % 3) continue; s += i; }", 18),
        ("for (int i = 0, j = n; i < j; i++, j--) s += j - i;", 30),
        ("int i = 0; do { s += i; if (i == 6) break; } while (++i < n);", 21),
        ("int i = 0; do { i++; if (i == 2) continue; s += i; } while (i < 4);", 8),
        ("do { s = 7; } while (0);", 7),
        ("do { if (n > 5) break; s = 7; } while (0); s += 1;", 1),
        ("for (unsigned i = 0; i < 4u; ++i) s += i;", 6),
        ("for (unsigned i = 4; i-- > 0;) s = s * 10 + i;", 3210),
        ("for (size_t i = 0; i < (size_t)n; ++i) s += 1;", 10),
        ("for (int i = 0; i < n; i++) { i++; s += i; }", 25),
        ("for (int i = 0; i != n; i++) s++;", 10),
        ("int m = n; for (int i = 0; i < m; i++) { m--; s++; }", 5),
        ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { if (j == 8) break; s++; }", 37),
        ("int i = n; while (i--) s += i;", 45),
        ("for (int i = 0; n > i; i = i + 3) s += i;", 18),
        ("for (short i = 0; i < 5; i++) s += i;", 10),
        ("LOOP(i, n) s += i;", 45),
    ],
)
def test_loops(evaluate, body, expected):
    prelude = "typedef unsigned long size_t;\n#define LOOP(i, n) for (int i = 0; i < (n); ++i)"
    assert evaluate(f"int s = 0; {body} o[0] = s;", n=10, prelude=prelude)[0] == expected


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("int i = 0; i < n; i++", For),
        ("int i = n - 1; i >= 0; i--", For),
        ("unsigned i = 0; i < n; i += 4", For),
        ("int i = 0; i < x[0]; i++", For),
        ("int i = 1; i < n; i *= 2", While),
        ("int i = 0; i < y[0]; i++", While),  # y is written by the body
        ("int i = 0; i < n; i += n", While),  # the step may be zero or negative
        ("int i = -1; i < 5u; i++", While),  # compares as unsigned
        ("unsigned i = n; i >= 0; i--", While),
        ("float i = 0; i < n; i++", While),
    ],
)
def test_only_canonical_loops_become_for(read, header, kind):
    module = read(f"void f(int *x, int *y, int n) {{ for ({header}) y[0] = 1; }}")
    assert [type(s) for s in walk(module.body) if isinstance(s, For | While)] == [kind]


@pytest.mark.parametrize(("n", "expected"), [(0, 1), (1, 22), (2, 20), (3, 7), (4, 7), (5, 99), (6, 3), (-1, 99)])
def test_switch(evaluate, n, expected):
    body = """
        int s = 0;
        switch (n) {
            case 0: s = 1; break;
            case 1: s = 2;
            case 2: { s += 20; break; }
            default: s = 99; break;
            case 3:
            case 4: if (n > 3) { s = 7; break; } s = 7; break;
            case 6: s = 3; if (n == 6) break; s = 4;
        }
        o[0] = s;
    """
    assert evaluate(body, n=n)[0] == expected


def test_continue_inside_a_switch_belongs_to_the_loop(evaluate):
    body = """
        int s = 0;
        for (int i = 0; i < 6; i++) {
            switch (i % 3) { case 0: continue; case 1: s += 10; break; default: s += 1; }
            s += 100;
        }
        o[0] = s;
    """
    assert evaluate(body)[0] == 422


FUNCTIONS = """
    struct Pair { float a; int b; };
    int find(const int *v, int n, int x) { for (int i = 0; i < n; i++) { if (v[i] == x) return i; } return -1; }
    int nested(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (i * j == 6) return i * 10 + j; return 0; }
    int sign(int x) { if (x > 0) return 1; else if (x < 0) return -1; return 0; }
    int partial(int x) { if (x > 3) { if (x > 6) return 100; x++; } x *= 2; return x; }
    void clamp(int &x, int low) { if (x >= low) return; x = low; }
    void split(float x, int *whole, float *rest) { *whole = (int)x; *rest = x - *whole; }
    Pair make(float a) { Pair p = {a, 3}; p.b += 1; return p; }
    float total(Pair p) { p.a += p.b; return p.a; }
    int &pick(int *v, int i) { return v[i]; }
    template <typename T> T largest(T a, T b) { return a > b ? a : b; }
    template <int N> int power(int x) { int r = 1; for (int i = 0; i < N; i++) r *= x; return r; }
    template <typename T> int width() { if constexpr (sizeof(T) == 8) return 8; else return 4; }
    int defaulted(int a, int b = 7) { return a + b; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int v[4] = {5, 6, 7, 8}; o[0] = find(v, 4, 7) * 10 + find(v, 4, 9);", 19),
        ("o[0] = nested(5);", 23),
        ("o[0] = sign(5) * 100 + sign(-5) * 10 + sign(0);", 90),
        ("o[0] = partial(2) * 10000 + partial(5) * 1000 + partial(9);", 52100),
        ("int x = 3; clamp(x, 5); int y = 9; clamp(y, 5); o[0] = x * 10 + y;", 59),
        ("int w; float r; split(3.75f, &w, &r); o[0] = w * 100 + (int)(r * 100);", 375),
        ("Pair p = make(1.5f); o[0] = total(p) * 2 + p.b;", 15),
        ("int v[3] = {1, 2, 3}; pick(v, 1) = 50; o[0] = v[0] + v[1] + v[2];", 54),
        ("o[0] = largest(3, 4) + largest(2.5, 1.5) * 2;", 9),
        ("o[0] = power<3>(2) + power<2>(3);", 17),
        ("o[0] = width<double>() * 10 + width<int>();", 84),
        ("o[0] = defaulted(1) * 100 + defaulted(1, 1);", 802),
        ("int i = 0; o[0] = defaulted(i++, i += 10);", 11),
        ("int x = 1; x = sign(x) + (x = 5); o[0] = x;", 6),
    ],
)
def test_functions_are_inlined(evaluate, body, expected):
    assert evaluate(body, prelude=FUNCTIONS)[0] == expected


def test_methods_constructors_and_operators(evaluate):
    prelude = """
        struct Complex {
            float re = 0, im = 0;
            Complex(float r, float i) : re(r), im(i) {}
            Complex() = default;
            float norm() const { return re * re + im * im; }
            Complex operator*(const Complex &o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
            Complex &operator+=(const Complex &o) { re += o.re; im += o.im; return *this; }
            void flip() { float t = re; re = im; im = t; }
        };
        Complex operator-(Complex a, Complex b) { return Complex(a.re - b.re, a.im - b.im); }
    """
    body = """
        Complex a(1, 2), b(3, 4), z;
        Complex c = a * b;
        o[0] = c.re; o[1] = c.im; o[2] = z.norm();
        c += a; c.flip(); o[3] = c.re; o[4] = c.im;
        Complex d = c - b; o[5] = d.re; a = d; o[6] = a.im;
    """
    assert evaluate(body, np.float32, 7, prelude=prelude).tolist() == [-5, 10, 0, 12, -4, 9, -8]


def test_methods_that_change_nothing_leave_their_object_immutable(read):
    text = """
        struct Matrix { float *data; int stride; float &at(int i, int j) { return data[i * stride + j]; } };
        void f(float *a, int n) { Matrix m{a, n}; m.at(1, 2) = m.at(0, 1) + 1; }
    """
    assert [type(s).__name__ for s in walk(read(text).body)] == ["Store"]


def test_methods_that_change_their_object_through_this(evaluate):
    prelude = """
        struct Stack {
            int v[4]; int n;
            void push(int x) { v[n++] = x; }
            int &top() { return v[n - 1]; }
            void twice(int x) { push(x); this->push(x + 1); }
        };
    """
    assert (
        evaluate("Stack s; s.n = 0; s.push(3); s.twice(5); s.top() += 10; o[0] = s.v[0] * 100 + s.v[2] + s.n;", prelude=prelude)[0] == 319
    )
