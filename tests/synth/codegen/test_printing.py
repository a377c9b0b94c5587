import re
import subprocess

import numpy as np
import pytest

from synth.codegen import emit
from synth.codegen.names import identifiers
from synth.errors import UnsupportedError
from synth.ir import interpreter, verifier
from synth.ir.text import parse_module
from synth.spec import SPECS
from tests.synth.codegen import programs
from tests.synth.codegen.native import PORTABLE, call, compile_text, equal

SPEC = SPECS["avx512_vnni"]


def module_of(text):
    module = parse_module(text)
    verifier.check(module)
    return module


def statements(body: str, params: str = "x: f32[] host inout, n: i32, k: i32") -> list[str]:
    """The printed lines of a body."""
    text = emit(module_of(f"module f({params}) dialect=c {{\n{body}\n}}"), SPEC)
    lines = text[text.index("void f(") :].splitlines()[1:-1]
    return [line.strip() for line in lines]


@pytest.mark.parametrize("name", ["gemm", "softmax", "scalar", "lanes"])
def test_golden(name, golden):
    golden(f"{name}.cpp", emit(module_of(getattr(programs, name.upper())), SPEC))


@pytest.mark.parametrize("flags", [(), PORTABLE], ids=["avx512", "portable"])
def test_golden_programs_compute_what_the_interpreter_says(tmp_path, flags):
    rng = np.random.default_rng(5)
    floats = lambda n: rng.uniform(-2, 2, n).astype(np.float32)  # noqa: E731
    ints = lambda n: rng.integers(-50, 50, n).astype(np.int32)  # noqa: E731
    given = {
        "gemm": {"A": floats(15), "B": floats(5 * 37), "C": np.zeros(3 * 37, np.float32), "M": 3, "N": 37, "K": 5},
        "softmax": {"x": floats(192), "y": np.zeros(192, np.float32), "rows": 3},
        "scalar": {"a": ints(4), "b": np.arange(4, dtype=np.uint8), "for": np.zeros(20), "n": 7, "int": 11},
        "lanes": {"x": floats(8), "y": np.zeros(8, np.float32), "h": ints(16)},
    }
    modules = {name: module_of(getattr(programs, name.upper())) for name in given}
    library = compile_text({name: emit(m, SPEC) for name, m in modules.items()}, tmp_path, *flags)
    for name, args in given.items():
        expected = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
        interpreter.run(modules[name], expected)
        call(library, modules[name], args)
        for key, value in expected.items():
            if name == "softmax":
                np.testing.assert_allclose(args[key], value, rtol=3e-6)
            else:
                assert equal(args[key], value), f"{name}.{key}: {args[key]} instead of {value}"


def test_printed_text_is_c_too(tmp_path):
    for name in ("gemm", "scalar"):
        path = tmp_path / f"{name}.c"
        path.write_text(emit(module_of(getattr(programs, name.upper())), SPEC))
        command = ["gcc", "-O1", "-march=native", "-fopenmp", "-Wall", "-Werror", "-Wno-unused-variable", "-Wno-unused-function"]
        done = subprocess.run([*command, "-c", str(path), "-o", str(tmp_path / "o")], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("((n:i32 + k:i32) - 1i32)", "n + k - 1"),
        ("(n:i32 - (k:i32 - 1i32))", "n - (k - 1)"),
        ("((n:i32 + k:i32) * 2i32)", "(n + k) * 2"),
        ("((n:i32 * k:i32) / 2i32)", "n * k / 2"),
        ("(n:i32 / (k:i32 * 2i32))", "n / (k * 2)"),
        ("-(-(n:i32))", "-(-n)"),
        ("(n:i32 - -1i32)", "n - -1"),
        ("((n:i32 & 1i32) + 2i32)", "(n & 1) + 2"),
        ("((n:i32 << 1i32) | k:i32)", "(n << 1) | k"),
        ("select((n:i32 < k:i32), (n:i32 + 1i32), k:i32)", "n < k ? n + 1 : k"),
        ("(1i32 + select((n:i32 < k:i32), n:i32, k:i32))", "1 + (n < k ? n : k)"),
        ("cast<i32>((cast<u32>(n:i32) / 2u32))", "(int)((unsigned)n / 2u)"),
        ("-2147483648i32", "-2147483647 - 1"),
        ("(n:i32 * -2147483648i32)", "n * (-2147483647 - 1)"),
        ("cast<i32>((cast<u8>(n:i32) + 250u8))", "(int)(uint8_t)((uint8_t)n + 250)"),
    ],
)
def test_parentheses_and_casts(expression, expected):
    assert statements(f"let r = {expression}") == [f"const int r = {expected};"]


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("0.1f32", "0.1f"),
        ("1.0f32", "1.0f"),
        ("1e30f32", "1.0e+30f"),
        ("16777216.0f32", "16777216.0f"),
        ("f32(-inf)", "-INFINITY"),
        ("f32(nan)", "NAN"),
    ],
)
def test_float_literals(literal, expected):
    assert statements(f"let r = {literal}") == [f"const float r = {expected};"]


def test_bounds_are_evaluated_once():
    body = """
    alloc m: i32[] local
    m[] = n:i32
    for i: i32 in 0i32..m[]:i32 step 1i32 { m[] = (m[]:i32 - 1i32) }
    for j: i32 in 0i32..m[]:i32 step 1i32 { x[j:i32] = 0.0f32 }
    """
    assert statements(body) == [
        "int m = n;",
        "const int i_end = m;",
        "for (int i = 0; i < i_end; ++i) {",
        "m -= 1;",
        "}",
        "for (int j = 0; j < m; ++j) {",
        "x[j] = 0.0f;",
        "}",
    ]


def test_jumps_free_what_they_leave():
    body = """
    alloc a: f32[n:i32] local
    for i: i32 in 0i32..n:i32 step 1i32 {
      alloc b: f32[n:i32] local
      if (i:i32 > 3i32) { continue }
      if (i:i32 > 2i32) { return }
    }
    """
    got = statements(body)
    assert got[4:7] == ["free(b);", "continue;", "}"]
    assert got[8:12] == ["free(b);", "free(a);", "return;", "}"]
    assert got[12:] == ["free(b);", "}", "free(a);"]


def test_tables_are_constant_only_if_never_written():
    body = "alloc t: i32[2i32] local = [1i32, 2i32]\n alloc u: i32[2i32] local = [3i32, 4i32]\n u[0i32] = t[1i32]:i32"
    assert statements(body) == ["static const int t[2] = {1, 2};", "alignas(64) int u[2] = {3, 4};", "u[0] = t[1];"]


def test_perfect_nests_collapse_and_reductions_are_declared():
    body = """
    for.omp i: i32 in 0i32..n:i32 step 1i32 {
      for.omp j: i32 in 0i32..k:i32 step 1i32 { x[((i:i32 * k:i32) + j:i32)] = 0.0f32 }
    }
    for.omp p: i32 in 0i32..n:i32 step 1i32 {
      for.omp q: i32 in 0i32..p:i32 step 1i32 { x[(p:i32 + q:i32)] = 0.0f32 }
    }
    alloc s: f32[] local
    s[] = 0.0f32
    for.simd r: i32 in 0i32..n:i32 step 1i32 { s[] = (s[]:f32 + x[r:i32]:f32) }
    """
    pragmas = [line for line in statements(body) if line.startswith("#")]
    assert pragmas == ["#pragma omp parallel for collapse(2)", "#pragma omp parallel for", "#pragma omp simd reduction(+:s)"]


def test_names_are_c_identifiers_and_distinct():
    module = module_of("""module f(int: i32, expf: i32, i_outer: i32) dialect=c {
      let i.outer = 1i32 let i.outer~2 = 2i32 let min_i32 = 3i32 let "2 x" = 4i32 let f = 5i32 let _x = 6i32 let INFINITY = 7i32
    }""")
    got = list(identifiers(module).values())
    assert got == ["int_2", "expf_2", "i_outer", "i_outer_2", "i_outer_3", "v_min_i32", "v_2_x", "f_2", "v_x", "INFINITY_2"]
    assert len(set(got)) == len(got) and all(re.fullmatch(r"[A-Za-z]\w*", name) for name in got)


def test_exact_minimum_and_the_conditional_one():
    body = """
    let v = x[0i32]:f32x16
    let w = x[16i32]:f32x16
    x[0i32] = max(v:f32x16, w:f32x16)
    x[0i32] = select((v:f32x16 < w:f32x16), v:f32x16, w:f32x16)
    """
    assert statements(body)[2:] == [
        "_mm512_storeu_ps(&x[0], _mm512_range_ps(v, w, 5));",
        "_mm512_storeu_ps(&x[0], _mm512_min_ps(v, w));",
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for.thread.x t: u32 in 0u32..4u32 step 1u32 { sync block }", "Sync cannot be printed"),
        ("alloc a: f32[2i32, n:i32] local", "has an inner size that is not constant"),
    ],
)
def test_refusals_name_the_construct(body, message):
    with pytest.raises(UnsupportedError, match=message):
        statements(body)


def test_a_program_without_a_launch_is_no_cuda():
    with pytest.raises(UnsupportedError, match="module 'f' has no launch"):
        emit(module_of("module f() dialect=c { }"), SPECS["sm_80"])
