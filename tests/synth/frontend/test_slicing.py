"""What an entry needs of its file stays, the rest is blanked, and nothing moves to another line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synth.frontend.slicing import needed_text


def lines(text: str, entry: str | None) -> list[str]:
    sliced = needed_text(text, entry)
    assert len(sliced) == len(text) and sliced.count("\n") == text.count("\n")
    return [line.strip() for line in sliced.splitlines() if line.strip()]


FILE = """\
#include <torch/extension.h>
#define SCALE(x) scaled<2>(x)
struct Pair { int a, b; };
enum Kind { kOne, kTwo };
typedef float real;
using index_t = int;
static const int table[2] = {1, 2}, other = 3;
template <int N> __device__ float scaled(float x) { return x * N; }
torch::Tensor bind(torch::Tensor x) { return x; }
__global__ void __launch_bounds__(128) k(real* p, Pair q) { index_t i = kTwo; p[i] = SCALE(table[q.a]); }
__global__ void sibling(fp8* p) { p[0] = 1; }
void run(float* p) { k<<<1, 128>>>(p, {}); }
PYBIND11_MODULE(NAME, m) { m.def("bind", &bind); }
"""


def test_a_kernel_needs_what_it_names_through_macros_types_and_functions() -> None:
    kept = lines(FILE, "k")
    assert kept == [line for line in FILE.splitlines() if not line.startswith(("torch", "__global__ void sibling", "void run", "PYBIND"))]


def test_without_an_entry_what_launches_is_needed() -> None:
    assert "void run(float* p) { k<<<1, 128>>>(p, {}); }" in lines(FILE, None)
    assert "torch::Tensor bind(torch::Tensor x) { return x; }" not in lines(FILE, None)


def test_namespaces_and_linkage_blocks_are_looked_into_and_their_braces_stay() -> None:
    text = 'namespace a {\nunknown x;\nextern "C" {\nvoid f(int* p) { *p = g(); }\n}\nint g() { return 1; }\n}\n'
    assert lines(text, "f") == ["namespace a {", 'extern "C" {', "void f(int* p) { *p = g(); }", "}", "int g() { return 1; }", "}"]


def test_overloads_operators_and_specialisations_stay_together() -> None:
    text = (
        "struct V { int a; };\nV operator+(V x, V y) { return x; }\nint g(int x) { return x; }\nfloat g(float x) { return x; }\n"
        "template <typename T> T h(T x);\ntemplate <> int h<int>(int x) { return x; }\nvoid f(int* p) { p[0] = g(1) + h(2); }\n"
    )
    assert lines(text, "f") == text.splitlines()


def test_braces_in_comments_strings_and_characters_do_not_count() -> None:
    text = "// {\nvoid f() { char c = '{'; const char* s = \"}}\"; /* } */ }\nvoid g() {}\n"
    assert lines(text, "f") == text.splitlines()[:2]


@given(st.text(alphabet="ab(){}[];=<>#\"'/*\n ,:", max_size=80))
def test_any_text_keeps_its_length_and_lines(text: str) -> None:
    lines(text, "a")
    lines(text, None)
