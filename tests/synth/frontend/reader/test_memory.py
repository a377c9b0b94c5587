"""Pointers, arrays, structs, vectors and views."""

import numpy as np
import pytest

from synth.ir.dtypes import Vec
from synth.ir.grammar import Load, Store
from synth.ir.traversal import all_exprs, walk

VECTORS = """
    struct float2 { float x, y; };
    struct alignas(16) float4 { float x, y, z, w; };
    struct alignas(16) int4 { int x, y, z, w; };
    float4 operator+(float4 a, float4 b) { return float4{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int *p = a; o[0] = *p; o[1] = p[2]; o[2] = *(p + 1);", [10, 12, 11]),
        ("int *p = a + 1; o[0] = *p++; o[1] = *p; o[2] = *++p; o[3] = p - a;", [11, 12, 13, 3]),
        ("int *p = &a[2]; p -= 1; o[0] = *p; p += n; o[1] = p[-1];", [11, 12]),
        ("const int *p = a; const int *end = a + 4; int s = 0; while (p < end) s += *p++; o[0] = s;", [46]),
        ("int *p; p = a + 3; o[0] = *p;", [13]),
        ("int *p = a; o[0] = *p; p = o; p[1] = 7;", [10, 7]),  # an unconditional change of buffer
        ("int &r = a[1]; r += 5; o[0] = a[1]; int i = 1; int &q = a[i]; i = 3; q = 1; o[1] = a[1] + a[3];", [16, 14]),
        ("int *p = n > 1 ? a : a + 2; o[0] = *p; o[1] = p != nullptr;", [10, 1]),
        ("int x = 3; int *p = &x; *p += 4; o[0] = x; int *q = &x; o[1] = *q;", [7, 7]),
        ("float f = 1.0f; o[0] = *(int *)&f == 0x3f800000; o[1] = *reinterpret_cast<unsigned *>(&f) >> 23;", [1, 127]),
        ("o[0] = 2[a];", [12]),
    ],
)
def test_pointers(evaluate, body, expected):
    a = np.array([10, 11, 12, 13], np.int32)
    assert evaluate(body, np.int32, 4, a=a, n=2)[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int m[2][3] = {{1, 2}, {4}}; o[0] = m[0][1]; o[1] = m[0][2]; o[2] = m[1][0];", [2, 0, 4]),
        ("int m[2][3] = {1, 2, 3, 4}; o[0] = m[1][0]; o[1] = m[1][1];", [4, 0]),
        ("int m[2][2] = {}; m[n][1] = 5; int *row = m[1]; o[0] = row[1]; o[1] = (&m[0][0])[3];", [5, 5]),
        ("int v[] = {n, n + 1, 3}; o[0] = v[0] + v[1] + v[2]; o[1] = sizeof(v) / sizeof(v[0]);", [6, 3]),
        ("int big[100] = {1}; o[0] = big[0] + big[99] + n;", [2]),
        ("float w[70] = {(float)n}; o[0] = w[0] + w[69];", [1]),
        ("int v[n + 2]; for (int i = 0; i < n + 2; i++) v[i] = i; o[0] = v[2];", [2]),
        ("static const int t[3] = {4, 5, 6}; o[0] = t[n];", [5]),
        ("struct P { int a, b; }; P v[2] = {{1, 2}, {3, 4}}; v[n].b += 10; o[0] = v[1].b; P c = v[1]; o[1] = c.a;", [14, 3]),
        (
            "struct P { int a; int v[3]; }; P p = {1, {2, 3}}; p.v[n] += 5; P q = p; q.v[1]++; o[0] = p.v[1]; o[1] = q.v[1];",
            [8, 9],
        ),
        ("struct P { float a; int b; }; P p{}, q = {2.5f, 3}; p = q; p.b = 4; o[0] = p.a * 2 + p.b + q.b;", [12]),
        ("struct P { int a; }; P p = {1}; P *r = &p; r->a = 9; (*r).a += 1; o[0] = p.a;", [10]),
        ("struct In { int a; }; struct P { In i; int b; }; P p = {{1}, 2}; p.i.a += p.b; o[0] = p.i.a;", [3]),
    ],
)
def test_arrays_and_structs(evaluate, body, expected):
    assert evaluate(body, np.int32, 4, n=1)[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float4 v = reinterpret_cast<float4 *>(a)[1]; o[0] = v.x; o[1] = v.w;", [4, 7]),
        ("float4 v = *(float4 *)(a + 2); v.y = 50; v.x += 1; o[0] = v.x; o[1] = v.y; o[2] = v.z;", [3, 50, 4]),
        ("float4 *q = (float4 *)o; q[0] = reinterpret_cast<const float4 *>(a)[0]; q[0].z = 9; ", [0, 1, 9, 3]),
        ("float4 v = {1, 2, 3, 4}, z{}; float *p = &v.x; p[2] = 8; o[0] = v.z + z.w; o[1] = ((float *)&v)[n];", [8, 2]),
        ("float4 u = {1, 2, 3, 4}; float4 v = u + u; u = v; o[0] = u.w; o[1] = v.x;", [8, 2]),
        ("float4 acc[2]; acc[n].x = 3; acc[0].w = 4; float4 t = acc[n]; o[0] = t.x; o[1] = acc[0].w;", [3, 4]),
        ("int4 v = *reinterpret_cast<int4 *>(a); o[0] = v.y == 0x3f800000;", [1]),
        ("double d = *reinterpret_cast<double *>(a + 2); float2 f = *(float2 *)&d; o[0] = f.x; o[1] = f.y;", [2, 3]),
        ("reinterpret_cast<float4 &>(o[0]) = reinterpret_cast<const float4 &>(a[4]);", [4, 5, 6, 7]),
        ("unsigned char *b = (unsigned char *)a; o[0] = b[7]; o[1] = b[6];", [63, 128]),
    ],
)
def test_vectors_and_views(evaluate, body, expected):
    a = np.arange(8, dtype=np.float32)
    assert evaluate(body, np.float32, 8, prelude=VECTORS, a=a, n=1)[: len(expected)].tolist() == expected


def test_a_float4_access_is_one_vector_load_and_store(read):
    module = read(VECTORS + "void f(float *a, float *o, int i) { reinterpret_cast<float4 *>(o)[i] = reinterpret_cast<float4 *>(a)[i]; }")
    loads = [e.type for e in all_exprs(module.body) if isinstance(e, Load)]
    stores = [s.value.type for s in walk(module.body) if isinstance(s, Store)]
    assert loads == stores == [Vec(module.params[0].dtype, 4)]


def test_full_subscripts_keep_the_declared_shape_and_row_pointers_flatten_it(read):
    from synth.ir.grammar import Alloc

    module = read("void f(float *o) { float a[4][5]; float b[4][5]; float *p = b[1]; a[2][3] = 1; p[0] = 2; o[0] = a[2][3] + b[1][0]; }")
    shapes = {s.sym.name: len(s.shape) for s in walk(module.body) if isinstance(s, Alloc)}
    assert shapes == {"a": 2, "b": 1}


def test_array_references_keep_their_shape(evaluate):
    prelude = "void fill(int (&m)[2][3], int x) { for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) m[i][j] = x + i * 3 + j; }"
    assert evaluate("int m[2][3]; fill(m, 10); o[0] = m[1][2];", prelude=prelude)[0] == 15
    prelude = "int sum(int m[][3], const int (*k)[3]) { return m[1][1] + k[1][2]; }"
    assert evaluate("int m[2][3] = {1, 2, 3, 4, 5, 6}; o[0] = sum(m, m);", prelude=prelude)[0] == 11
