"""Which function is the entry, and how bare kernels, binds, extents and defines are read."""

from __future__ import annotations

import numpy as np
import pytest

from synth.errors import SourceError, UsageError
from synth.ir.dtypes import DType
from synth.ir.grammar import Const, Role, Space
from synth.ir.text import print_expr
from synth.source import LaunchShape

KERNEL = "__global__ void k(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }\n"
SHAPE = LaunchShape((2, 1, 1), (8, 1, 1))


def test_the_only_function_that_launches_is_the_entry(cuda):
    own = "static void helper(float *x, int n) { k<<<1, 8>>>(x, n); }\nvoid run(float *x, int n) { helper(x, n); }\n"
    text = KERNEL + own + "int main() { run(0, 0); }"
    assert cuda(text).module.name == "run"


def test_extern_c_comes_first(cuda):
    text = KERNEL + 'void other(float *x) { k<<<1, 1>>>(x, 1); }\nextern "C" void run(float *x) { k<<<1, 1>>>(x, 1); }'
    assert cuda(text).module.name == "run"


def test_several_candidates_are_listed(cuda):
    text = KERNEL + "void one(float *x) { k<<<1, 1>>>(x, 1); }\nvoid two(float *x) { k<<<1, 1>>>(x, 1); }"
    with pytest.raises(UsageError) as caught:
        cuda(text)
    assert "'one' (line 2)" in caught.value.message and "'two' (line 3)" in caught.value.message
    assert "--entry" in caught.value.hint
    assert cuda(text, entry="two").module.name == "two"


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        (KERNEL, {}, "no host function launches a kernel; the kernels are 'k' (line 1)"),
        (KERNEL + "int main() { k<<<1, 1>>>(0, 1); }", {}, "only 'main' launches kernels"),
        (KERNEL + "int main() { k<<<1, 1>>>(0, 1); }", {"entry": "main"}, "'main' cannot be the entry"),
        (KERNEL, {"entry": "k"}, "grid and block are not known"),
        (KERNEL + "void f(float *x) { k<<<1, 1>>>(x, 1); }", {"entry": "f", "launch": SHAPE}, "--launch is for kernels"),
        (KERNEL, {"entry": "q"}, "there is no function 'q'"),
        (KERNEL + KERNEL.replace("void k(", "void j("), {"launch": SHAPE}, "there are 2: 'k' (line 1), 'j' (line 2)"),
        ("int f(int x) { return x; }", {}, "there is no kernel"),
        ("template <class T> __global__ void k(T *x) { *x = 1; }", {"launch": SHAPE}, "its arguments are not known"),
        (KERNEL, {"launch": SHAPE, "binds": {"m": 3}}, "no scalar parameter 'm'"),
        (KERNEL, {"launch": SHAPE, "binds": {"n": 2.5}}, "not a value of type i32"),
        (KERNEL, {"launch": SHAPE, "extents": {"y": "n"}}, "no pointer parameter 'y'"),
        (KERNEL, {"launch": SHAPE, "extents": {"x": "n * q"}}, "not an expression over the scalar parameters"),
        (KERNEL, {"launch": SHAPE, "extents": {"x": "1; }"}}, "not an expression over the scalar parameters"),
    ],
)
def test_usage_errors_say_what_to_do(cuda, text, options, what):
    with pytest.raises(UsageError) as caught:
        cuda(text, **options)
    assert what in str(caught.value)
    assert not isinstance(caught.value, SourceError)


def test_a_bare_kernel_is_launched_as_asked(cuda, execute):
    module = cuda(KERNEL, launch=SHAPE).module
    assert (module.name, module.params[0].space, module.params[0].role) == ("k", Space.GLOBAL, Role.INOUT)
    x = np.arange(20, dtype=np.float32)
    execute(module, x=x, n=13)
    np.testing.assert_array_equal(x, np.arange(20) + (np.arange(20) < 13))


def test_a_template_is_named_with_its_arguments(cuda, execute):
    text = "template <typename T, int N> __global__ void k(T *x) { x[threadIdx.x] = N * threadIdx.x; }"
    module = cuda(text, entry="k<double, 3>", launch=LaunchShape((1, 1, 1), (4, 1, 1))).module
    assert (module.name, module.params[0].dtype) == ("k", DType.F64)
    x = np.zeros(4)
    execute(module, x=x)
    np.testing.assert_array_equal(x, [0, 3, 6, 9])


def test_a_kernel_and_its_launcher_may_share_a_name(cuda):
    text = "__global__ void f(float *x, int n) { x[0] = n; }\nvoid f(float *x) { f<<<1, 1>>>(x, 2); }"
    assert cuda(text, entry="f").module.params[-1].sym.name == "x"
    assert cuda(text, entry="f", launch=SHAPE).module.params[-1].sym.name == "n"


def test_extents_are_expressions_over_the_parameters(cuda):
    module = cuda(KERNEL, launch=SHAPE, extents={"x": "2 * n + M"}, defines={"M": "4"}).module
    assert print_expr(module.params[0].shape[0]) == "cast<i64>(((2i32 * n:i32) + 4i32))"
    module = cuda(KERNEL, launch=SHAPE, extents={"x": "2 * n"}, binds={"n": 5}).module
    assert print_expr(module.params[0].shape[0]) in ("10i64", "cast<i64>((2i32 * 5i32))")
    assert [print_expr(e) for e in module.assumes] == ["(n:i32 == 5i32)"]


def test_defines_set_sizes(cuda):
    text = "__global__ void k(float *x) { x[0] = N; }\nvoid f(float *x) { k<<<N, 32>>>(x); }"
    module = cuda(text, defines={"N": "7"}).module
    assert module.body[-1].body[0].body[0].body[0].hi == Const(7, DType.U32)


def test_errors_in_functions_that_are_not_reached_do_not_matter(cuda):
    text = KERNEL + "void f(float *x) { k<<<1, 1>>>(x, 1); }\nint main() { return plot(3); }"
    read = cuda(text)
    assert read.module.name == "f"
    (note,) = [d for d in read.diagnostics if "'main' has errors" in d.message]
    assert note.location.line == 3


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (KERNEL + "void f(float *x) {\n k<<<1, 1>>>(x, y); }", 3, "undeclared identifier 'y'"),
        ("typedef Real scalar;\n" + KERNEL + "void f(float *x) { scalar y = 1; k<<<1, 1>>>(x, y); }", 1, "unknown type name 'Real'"),
        ('#include "/etc/passwd"\n' + KERNEL, 1, "outside our include folder"),
        (KERNEL + "void f(float *x) { k<<<1, 1>>>(x, 1);", 2, "expected '}'"),
        (KERNEL + "void f(float *x) { k<<<1>>>(x, 1); }", 2, ""),
    ],
)
def test_errors_that_matter_have_a_line(cuda, text, line, what):
    with pytest.raises(SourceError) as caught:
        cuda(text)
    assert what in caught.value.message
    assert caught.value.location.line == line


def test_what_the_entry_does_not_need_may_have_errors_and_is_told(cuda):
    read = cuda("torch::Tensor bind(Real);\n" + KERNEL + "void f(float *x) { k<<<1, 1>>>(x, 1); }\nMODULE(m, n) { m.def(n); }")
    assert read.module.name == "f" and "MODULE" not in read.reached and "__global__" in read.reached
    assert any(d.severity == "warning" and "does not need" in d.message and d.location.line == 1 for d in read.diagnostics)


def test_an_include_that_nobody_has_is_left_out_with_a_warning(cuda):
    text = "#include <torch/extension.h>\n" + KERNEL
    read = cuda(text + "void f(float *x) { k<<<1, 1>>>(x, 1); }")
    (warning,) = [d for d in read.diagnostics if d.severity == "warning"]
    assert "torch/extension.h" in warning.message and "-I" in warning.hint and read.headers == {"torch/extension.h": ""}
    with pytest.raises(SourceError) as caught:
        cuda(text + "void f(float *x) { k<<<1, 1>>>(x, torch_sizes()); }")
    assert "torch/extension.h was not found" in caught.value.hint


def test_headers_of_the_user_travel_with_the_source():
    from synth.frontend import read
    from synth.source import ReadOptions, Source

    source = Source('#include "k.cuh"\nvoid f(float *x) { k<<<1, 4>>>(x, 4); }', "cuda", "f.cu", {"k.cuh": KERNEL})
    assert read(source, ReadOptions()).module.name == "f"


def test_an_unknown_dialect_is_a_usage_error():
    from synth.frontend import read
    from synth.source import ReadOptions, Source

    with pytest.raises(UsageError, match="no frontend for dialect 'bang'"):
        read(Source("", "bang"), ReadOptions())
