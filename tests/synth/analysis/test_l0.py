"""Bounds, races, limits and extents of small kernels."""

import pytest

from synth.analysis.bounds import check_bounds
from synth.analysis.limits import exceeded_limits
from synth.analysis.solver import Proof
from synth.errors import UnsupportedError
from synth.evidence.l0 import earn_l0
from synth.evidence.levels import Finding, Outcome
from synth.ir.grammar import Role
from synth.ir.text import print_expr
from synth.spec import SPECS
from tests.synth.analysis.programs import cuda, module

KERNEL = """
__global__ void k(const float* A, float* C, int n) {{
    {body}
}}
extern "C" void entry(const float* A, float* C, int n) {{
    float *dA, *dC;
    cudaMalloc(&dA, n * sizeof(float));
    cudaMalloc(&dC, n * sizeof(float));
    cudaMemcpy(dA, A, n * sizeof(float), cudaMemcpyHostToDevice);
    k<<<(n + 255) / 256, 256>>>(dA, dC, n);
    cudaMemcpy(C, dC, n * sizeof(float), cudaMemcpyDeviceToHost);
}}
"""
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def open_bounds(body: str) -> list[str]:
    return [f"{f.buffer} {f.detail.split(':')[0]}" for f in check_bounds(cuda(KERNEL.format(body=body))) if f.proof is not Proof.PROVED]


def test_guarded_accesses_are_in_bounds_at_every_size() -> None:
    assert open_bounds(INDEX + "if (i < n) C[i] = A[i];") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (INDEX + "C[i] = 1;", ["dC beyond the end"]),
        (INDEX + "if (i <= n) C[i] = 1;", ["dC beyond the end"]),
        (INDEX + "if (i < n) C[i] = A[i + 1];", ["dA beyond the end"]),
        (INDEX + "if (i < n) C[i] = A[i - 1];", ["dA below 0"]),
        (INDEX + "if (i < n && i > 0) C[i] = A[i - 1];", []),
        (INDEX + "if (i < n && i != 0) C[i] = A[i - 1];", []),
        (INDEX + "if (i < n && i != 1) C[i] = A[i - 1];", ["dA below 0"]),
        (INDEX + "if (i > n || i == n) return; C[i] = 1;", []),
    ],
)
def test_what_may_leave_a_buffer_is_named(body: str, expected: list[str]) -> None:
    assert open_bounds(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("__shared__ float s[64]; int t = threadIdx.x; if (t < 64) { for (int h = 32; h > 0; h /= 2) if (t < h) s[t] = s[t + h]; }", []),
        ("__shared__ float s[63]; int t = threadIdx.x; if (t < 63) { for (int h = 32; h > 0; h /= 2) if (t < h) s[t] = s[t + h]; }", ["s"]),
        ("int k = 16; const float* p = A; float v = 0; if (n >= 16) { while (k-- > 0) v += *p++; }", []),
        ("int k = 17; const float* p = A; float v = 0; if (n >= 16) { while (k-- > 0) v += *p++; }", ["dA"]),
        (INDEX + "while (i < n) { C[i] = A[i]; i += 1024; }", []),
        (INDEX + "while (i < n) { i += 1024; C[i] = 1; }", ["dC"]),
        (INDEX + "int j = i; if (j < n) { C[j] = 1; j = j + 1; C[j] = 2; }", ["dC"]),
    ],
)
def test_mutable_variables_are_followed_to_their_next_assignment(body: str, expected: list[str]) -> None:
    assert [words.split()[0] for words in open_bounds(body)] == expected


FIXED = """
__global__ void k(const float* A, float* C) {{
    {body}
}}
extern "C" void entry(const float* A, float* C) {{
    float *dA, *dC;
    cudaMalloc(&dA, 1000 * sizeof(float));
    cudaMalloc(&dC, 1000 * sizeof(float));
    cudaMemcpy(dA, A, 1000 * sizeof(float), cudaMemcpyHostToDevice);
    k<<<4, 256>>>(dA, dC);
    cudaMemcpy(C, dC, {copied} * sizeof(float), cudaMemcpyDeviceToHost);
}}
"""


def verdicts(body: str, copied: int = 1000) -> list[tuple[str, str, str]]:
    found = check_bounds(cuda(FIXED.format(body=body, copied=copied)))
    return [(f.buffer, f.proof.value, f.detail) for f in found if f.proof is not Proof.PROVED]


def test_an_access_that_surely_leaves_its_buffer_is_refuted_at_a_point() -> None:
    ((buffer, proof, detail),) = verdicts(INDEX + "C[i] = 1;")
    assert (buffer, proof) == ("dC", "refuted")
    index = int(detail.split("index ")[1].split()[0])
    assert 1000 <= index < 1024 and "of 1000 at" in detail


@pytest.mark.parametrize(
    ("body", "buffer"),
    [
        (INDEX + "if (A[i % 1000] > 0) C[i] = 1;", "dC"),  # whether it happens depends on data
        (INDEX + "for (int j = 0; j < 4; j++) { if (A[j] > 0) break; C[i + j] = 1; }", "dC"),  # an earlier iteration may end the loop
        (INDEX + "C[(int)A[i % 1000]] = 1;", "dC"),  # the index depends on data
        (INDEX + "C[i % 1000] = i < 1000 || A[0] > 0 ? A[i] : 0;", "dA"),  # the load is lazy
    ],
)
def test_what_may_not_happen_is_unknown_and_not_refuted(body: str, buffer: str) -> None:
    assert [(b, p) for b, p, _ in verdicts(body)] == [(buffer, "unknown")]


def test_a_guarded_access_is_not_refuted() -> None:
    assert verdicts(INDEX + "if (i >= 1000) return; C[i] = A[i];") == []


def test_operands_of_copies_are_checked() -> None:
    found = verdicts("C[threadIdx.x] = 1;", copied=1001)
    assert ("dC", "unknown", "beyond the end") in found


def test_limits_of_the_target() -> None:
    text = KERNEL.format(body="__shared__ float s[60000]; s[threadIdx.x] = 0;").replace(", 256>>>", ", 2048>>>")
    words = exceeded_limits(cuda(text), SPECS["sm_80"])
    assert [w.split(";")[0] for w in words] == ["kernel 'k' has 2048 threads a block", "kernel 'k' has 240000 bytes of shared memory"]


def test_a_launch_of_no_blocks_is_an_error() -> None:
    text = """__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }
    extern "C" void f(float* A) { float* y; cudaMalloc(&y, 256); k<<<7 / 64, 64>>>(y); cudaMemcpy(A, y, 256, cudaMemcpyDeviceToHost); }"""
    assert exceeded_limits(cuda(text), SPECS["sm_80"]) == ("kernel 'k' is launched with block.x of size 0; an empty launch is an error",)


BARE = """
__global__ void k(const float* A, float* C, int M, int N) {{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = A[{index}];
}}
extern "C" void entry(const float* A, float* C, int M, int N) {{
    k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, C, M, N);
}}
"""


def test_extents_and_roles_come_from_the_accesses() -> None:
    a, c, *_ = cuda(BARE.format(index="row")).params
    assert (a.role, c.role) == (Role.IN, Role.OUT)
    assert a.shape is not None and c.shape is not None
    assert print_expr(a.shape[0]) == "cast<i64>(M:i32)"
    assert print_expr(c.shape[0]) == "(cast<i64>(M:i32) * cast<i64>(N:i32))"


def test_an_extent_that_depends_on_data_is_asked_for() -> None:
    with pytest.raises(UnsupportedError, match=r"--extent A=EXPR"):
        cuda(BARE.format(index="(int)C[row]"))


def test_a_dimension_of_a_block_has_a_limit_of_its_own() -> None:
    text = KERNEL.format(body="C[0] = 1;").replace(", 256>>>", ", dim3(1, 1, 128)>>>")
    assert exceeded_limits(cuda(text), SPECS["sm_80"]) == ("kernel 'k' has 128 threads in thread.z; sm_80 allows 64",)


def earned(body: str, text: str = FIXED) -> Finding:
    source = cuda(text.format(body=body, copied=1000))
    return earn_l0(source, module("module entry(A: f32[1i64] host in, C: f32[1i64] host out) dialect=vnni {\n}\n"), SPECS["avx512_vnni"])


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        (INDEX + "if (i < 1000) C[i] = A[i];", Outcome.SHOWN, "6 accesses in bounds, 2 pairs of accesses race-free, limits kept"),
        (INDEX + "C[i] = A[0];", Outcome.REFUTED, "source: write to 'dC' at k.cu:4"),
        (INDEX + "if (i < 1000) C[i / 2] = A[i];", Outcome.NOT_SHOWN, "may race on 'dC'"),
        (INDEX + "if (i < 500) __syncthreads(); C[i % 1000] = 1;", Outcome.NOT_SHOWN, "may not be reached by all threads"),
        ("__shared__ float s[99999]; s[threadIdx.x] = 1;", Outcome.REFUTED, "bytes of shared memory"),
    ],
)
def test_the_finding_tells_proved_open_and_broken_apart(body: str, outcome: Outcome, words: str) -> None:
    finding = earned(body)
    assert finding.outcome is outcome and words in finding.summary


def in_parallel(axis: str, statement: str) -> Finding:
    source = cuda(FIXED.format(body="C[0] = 1;", copied=1))
    text = "module entry(A: f32[64i64] host in, C: f32[64i64] host inout) dialect=vnni {\n  alloc s: f32[] local\n  s[] = 0.0f32\n"
    text += f"  for.{axis} i: i32 in 0i32..64i32 step 1i32 {{\n    {statement}\n  }}\n}}\n"
    return earn_l0(source, module(text), SPECS["avx512_vnni"])


@pytest.mark.parametrize(
    ("axis", "statement", "reason"),
    [
        ("omp", "C[i:i32] = A[i:i32]:f32", ""),
        ("omp", "C[(i:i32 / 2i32)] = A[i:i32]:f32", "may touch the same element of 'C'"),
        ("omp", "s[] = (s[]:f32 + A[i:i32]:f32)", "accumulate into 's'"),
        ("simd", "s[] = (s[]:f32 + A[i:i32]:f32)", ""),
    ],
)
def test_iterations_of_parallel_loops_in_the_result_are_independent(axis: str, statement: str, reason: str) -> None:
    found = in_parallel(axis, statement)
    assert found.details["result_parallel_loops"] == {"proved": int(not reason), "unknown": int(bool(reason))}
    assert any(reason in words for words in found.details["open"]) is bool(reason)
