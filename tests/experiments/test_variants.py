from experiments.variants import rename, reorder_statements, swap_operands

SOURCE = """#include <cuda_runtime.h>
#ifndef N
#define N 1024
#endif
__global__ void k(const float* A, float* C, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / 16;
  int col = i % 16;
  if (i < n) C[i] = A[row * 16 + col];
}
extern "C" void entry(const float* A, float* C, int n) { k<<<(n + 255) / 256, 256>>>(A, C, n); }
"""


def test_rename_keeps_the_entry_and_the_builtins() -> None:
    text = rename(SOURCE, "entry", {})
    assert "void entry(" in text and "blockIdx.x * blockDim.x + threadIdx.x" in text
    assert "row" not in text and "col" not in text and "int n" not in text
    assert "#ifndef N" in text


def test_swapped_operands_keep_the_association() -> None:
    text = swap_operands(SOURCE, {})
    assert "threadIdx.x + (blockDim.x * blockIdx.x)" in text
    assert "A[col + (16 * row)]" in text
    assert "(255 + n) / 256" in text


def test_only_independent_declarations_change_places() -> None:
    text = reorder_statements(SOURCE, {})
    assert text.index("int i =") < text.index("int col =") < text.index("int row =")


def test_rename_follows_fields_that_share_a_parameters_name() -> None:
    source = "struct S { int n; int x; };\n__device__ float k(S s, int n, float4 v) { int x = s.n; return v.x + n + x + s.x; }\n"
    text = rename(source, "entry", {})
    assert "struct S { int zq1_; int x; }" in text
    assert "int x = zq2_.zq1_; return zq3_.x + zq1_ + x + zq2_.x;" in text
