"""Bounds, races, limits and extents of small kernels."""

import pytest

from synth.analysis.bounds import check_bounds
from synth.analysis.limits import exceeded_limits
from synth.analysis.races import check_races
from synth.analysis.solver import Proof
from synth.errors import UnsupportedError
from synth.ir.grammar import Role
from synth.ir.text import print_expr
from synth.spec import SPECS
from tests.synth.analysis.programs import cuda

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
    ],
)
def test_what_may_leave_a_buffer_is_named(body: str, expected: list[str]) -> None:
    assert open_bounds(body) == expected


def races(body: str) -> tuple[str, ...]:
    return tuple(words.split(" (")[0] for words in check_races(cuda(KERNEL.format(body=body))).unknown)


REVERSE = "__shared__ float s[256];" + INDEX + "s[threadIdx.x] = A[i]; {sync} C[i] = s[255 - threadIdx.x];"


def test_a_barrier_between_write_and_read_excludes_the_race() -> None:
    assert races(REVERSE.format(sync="__syncthreads();")) == ()


def test_a_missing_barrier_is_reported() -> None:
    assert races(REVERSE.format(sync="")) == ("threads that differ in thread.x may race on 's'",)


def test_a_loop_with_one_barrier_races_with_its_next_iteration() -> None:
    loop = "__shared__ float s[256]; float x = 0; for (int t = 0; t < 4; ++t) {{ s[threadIdx.x] = x; __syncthreads(); "
    loop += "x += s[(threadIdx.x + 1) % 256]; {sync} }} C[threadIdx.x + blockIdx.x * 256] = x;"
    assert races(loop.format(sync="__syncthreads();")) == ()
    assert races(loop.format(sync="")) == ("threads that differ in thread.x may race on 's'",)


def test_blocks_that_write_one_element_race() -> None:
    assert "threads that differ in block.x may race on 'dC'" in races("C[threadIdx.x] = A[blockIdx.x];")


def test_writing_one_literal_everywhere_is_told_apart() -> None:
    report = check_races(cuda(KERNEL.format(body="C[0] = 1.0f;")))
    assert report.unknown == () and len(report.same_value) == 2


def test_limits_of_the_target() -> None:
    text = KERNEL.format(body="__shared__ float s[20000]; s[threadIdx.x] = 0;").replace(", 256>>>", ", 2048>>>")
    words = exceeded_limits(cuda(text), SPECS["sm_80"])
    assert [w.split(";")[0] for w in words] == ["kernel 'k' has 2048 threads a block", "kernel 'k' has 80000 bytes of shared memory"]


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
