"""Rewriting CUDA and HIP text: what is recognised, what is left alone, and that lines stay where they are."""

from __future__ import annotations

import pytest

from devices.gpu_text import rewrite
from devices.text_edits import mask


def body(text: str) -> str:
    """The rewriting of a function body."""
    inside = rewrite("void f() {\n" + text + "\n}", "f")[0]
    return inside.removeprefix("void f() {\n").removesuffix("\n}")


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("k<<<g, b>>>(x, 3);", '::xp::configure("k", __LINE__, g, b).run([&](auto... xp_a) { k(xp_a...); }, x, 3);'),
        ("k<<<g, b>>>();", '::xp::configure("k", __LINE__, g, b).run([&] { k(); });'),
        (
            "k<float, 16><<<dim3(1, 2), b, 4 * sizeof(float), s>>>(x);",
            '::xp::configure("k<float, 16>", __LINE__, dim3(1, 2), b, 4 * sizeof(float), s).run([&](auto... xp_a) { '
            "k<float, 16>(xp_a...); }, x);",
        ),
        ("ns::k <<< g, b >>> (x);", '::xp::configure("ns::k", __LINE__,  g, b ).run([&](auto... xp_a) { ns::k(xp_a...); }, x);'),
        ("k<<<g, b>>>(NULL);", '::xp::configure("k", __LINE__, g, b).run([&](auto... xp_a) { k(xp_a...); }, nullptr);'),
        ("(*p)<<<1, 1>>>(x);", '::xp::configure("p", __LINE__, 1, 1).run([&](auto... xp_a) { (*p)(xp_a...); }, x);'),
        (
            "k<Pair<int, int>><<<f<2>(n), b>>>(x);",
            '::xp::configure("k<Pair<int, int>>", __LINE__, f<2>(n), b).run([&](auto... xp_a) { k<Pair<int, int>>(xp_a...); }, x);',
        ),
    ],
)
def test_launches(launch: str, expected: str) -> None:
    assert body(launch) == expected


def slot(name: str) -> str:
    return f'([]() -> ::xp::SharedSlot& {{ static ::xp::SharedSlot xp_slot{{"{name}", 0}}; return xp_slot; }}())'


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("__shared__ float s[16][N + 1];", f"auto& s = ::xp::shared<float[16][N + 1]>{slot('s')};"),
        ("__shared__ int a, b[4];", f"auto& a = ::xp::shared<int>{slot('a')}; auto& b = ::xp::shared<int[4]>{slot('b')};"),
        ("__shared__ Pair<int, float> s[2];", f"auto& s = ::xp::shared<Pair<int, float>[2]>{slot('s')};"),
        ("static __shared__ volatile float s[8];", f"auto& s = ::xp::shared<volatile float[8]>{slot('s')};"),
        ("__shared__ alignas(16) float s[8];", f"auto& s = ::xp::shared<float[8], 16>{slot('s')};"),
        ("__shared__ __align__(8) char s[32];", f"auto& s = ::xp::shared<char[32], 8>{slot('s')};"),
        ("__shared__ float *p;", f"auto& p = ::xp::shared<float *>{slot('p')};"),
        ("__shared__ unsigned long long n;", f"auto& n = ::xp::shared<unsigned long long>{slot('n')};"),
        (
            "__shared__ struct { int n; } u;",
            f"struct xp_type_of_u {{ int n; }}; auto& u = ::xp::shared<xp_type_of_u>{slot('u')};",
        ),
        (
            "extern __shared__ float s[];",
            "float (*const s) = reinterpret_cast<float (*)>(::xp::dynamic_shared(alignof(float)));",
        ),
        (
            "extern __shared__ float s[][32];",
            "float (*const s)[32] = reinterpret_cast<float (*)[32]>(::xp::dynamic_shared(alignof(float)));",
        ),
    ],
)
def test_shared_declarations(declaration: str, expected: str) -> None:
    assert body(declaration) == expected


def test_dynamic_shared_memory_of_a_file_is_an_object() -> None:
    assert rewrite('extern "C" {\nextern __shared__ float s[];\n}', "f")[0] == ('extern "C" {\nstatic ::xp::DynamicShared<float> s;\n}')
    assert rewrite("#include <x.h>\nextern __shared__ float s[];\n", "f")[0] == ("#include <x.h>\nstatic ::xp::DynamicShared<float> s;\n")


def test_comments_and_strings_are_left_alone() -> None:
    text = 'void f() {\n// k<<<1, 1>>>(x); __shared__ float s[4];\n/* a\n <<< */ puts("k<<<1,1>>>(y)"); char c = \'"\';\n}'
    assert rewrite(text, "f")[0] == text


def test_the_mask_keeps_length_and_lines() -> None:
    text = 'a /* x\n y */ "q\\"r" // z\nR"(raw " )" \'\\\'\' 1\'000\n'
    masked = mask(text)
    assert len(masked) == len(text) and [m for m in masked if m == "\n"] == ["\n"] * 3
    assert "x" not in masked and "q" not in masked and "raw" not in masked and "1'000" in masked


def test_lines_stay_where_they_are() -> None:
    text = "void f() {\n  __shared__ float\n    s[4],\n    t[2];\n  k<float,\n    4>\n  <<<g,\n  b>>>(\n  x);\n  int mark;\n}"
    rewritten = rewrite(text, "f")[0]
    assert rewritten.count("\n") == text.count("\n")
    assert rewritten.splitlines().index("  int mark;") == text.splitlines().index("  int mark;")


def test_launches_in_macros_keep_their_continuations() -> None:
    text = "#define RUN(x) \\\n  k<<<1, 2>>> \\\n  (x);\nint mark;\n"
    rewritten = rewrite(text, "f")[0]
    assert rewritten.count("\\\n") == 2 and rewritten.endswith("\nint mark;\n")


def test_a_kernel_with_a_name_of_the_c_library_is_renamed_where_it_is_meant() -> None:
    text = 'extern "C" __global__ void exp(float* x) { x[0] = exp(x[1]); }\nvoid f(float* x) { exp<<<1, 1>>>(x); }'
    rewritten, entry = rewrite(text, "exp")
    assert entry == "xp_renamed_exp"
    assert "void xp_renamed_exp(float* x) { x[0] = exp(x[1]); }" in rewritten and "{ xp_renamed_exp(xp_a...); }" in rewritten


@pytest.mark.parametrize(
    ("call", "name"),
    [("cudaMalloc(&d_x, n)", "d_x"), ("cudaMalloc((void **)&d_x, n)", "d_x"), ("CHECK(cudaMalloc(&p.x, n))", "p.x")],
)
def test_allocations_carry_their_name(call: str, name: str) -> None:
    assert f'::xp::named("{name}", __LINE__).cudaMalloc(' in body(call + ";")


@pytest.mark.parametrize("text", ["k<<<", "k<<<1, (2>>>(x);", "__shared__", "__shared__ float s[", "x = a <<< 3;", "<<<>>>()", "{(["])
def test_broken_text_stays_as_it_is(text: str) -> None:
    assert rewrite(text, "f")[0] == text
