"""What is the same in all threads of a block or a warp."""

import pytest

from synth.analysis.uniformity import block_uniformity, warp_uniformity
from synth.ir.grammar import Launch, Let
from synth.ir.traversal import walk
from tests.synth.analysis.programs import cuda

TEXT = """
__global__ void k(const float* A, float* C, int n) {{
    {body}
}}
extern "C" void entry(const float* A, float* C, int n) {{
    k<<<dim3(4, n), {block}>>>(A, C, n);
}}
"""


def uniform_names(body: str, block: str = "256", warp: bool = False) -> set[str]:
    """Definitions in the kernel that are uniform."""
    m = cuda(TEXT.format(body=body + " C[threadIdx.x] = A[threadIdx.x];", block=block).replace("(n);", "(256);"))
    launch = next(s for s in m.body if isinstance(s, Launch))
    found = warp_uniformity(m, launch, 32) if warp else block_uniformity(m, launch)
    lets = [s.sym for s in walk(launch.body) if isinstance(s, Let)]
    return {s.name for s in lets if s not in found.varying}


def test_what_a_block_has_in_common() -> None:
    body = "int b = blockIdx.x; int t = threadIdx.x; float g = A[b]; float v = A[b + t]; int z = t - t + b;"
    assert uniform_names(body) == {"b", "g", "z"}


@pytest.mark.parametrize(
    ("block", "expression", "uniform"),
    [
        ("256", "threadIdx.x / 32", True),
        ("256", "threadIdx.x >> 5", True),
        ("256", "threadIdx.x / 64 + n", True),
        ("256", "threadIdx.x / 16", False),
        ("256", "threadIdx.x % 32", False),
        ("256", "(threadIdx.x + 32 * blockIdx.x) / 32", True),
        ("256", "(threadIdx.x + 16) / 32", False),
        ("dim3(32, 8)", "threadIdx.y", True),
        ("dim3(16, 16)", "threadIdx.y", False),
        ("dim3(16, 16)", "threadIdx.y / 2", True),
        ("dim3(16, 16)", "(threadIdx.y * blockDim.x + threadIdx.x) / 32", True),
        ("dim3(16, 16)", "(threadIdx.x * blockDim.y + threadIdx.y) / 32", False),
        ("dim3(48, 2)", "threadIdx.x / 32", False),
        ("dim3(16, 3, 2)", "threadIdx.y / 2", False),
        ("256", "(threadIdx.x < 64 ? 1 : 2)", True),
        ("256", "(threadIdx.x < 65 ? 1 : 2)", False),
    ],
)
def test_what_a_warp_has_in_common(block: str, expression: str, uniform: bool) -> None:
    assert ("w" in uniform_names(f"int w = {expression};", block, warp=True)) is uniform


@pytest.mark.parametrize(
    ("body", "uniform"),
    [
        ("int a = 0; for (int k = 0; k < n; k++) a += k; int r = a;", True),
        ("int a = 0; for (int k = 0; k < (int)threadIdx.x; k++) a += 2; int r = a;", False),
        ("int a = 0; for (int k = 0; k < n; k++) { if (A[threadIdx.x] > k) break; a += 2; } int r = a;", False),
        ("int a = 0; if (threadIdx.x == 0) a = 2; int r = a;", False),
        ("int a = 0; if (blockIdx.x == 0) a = 2; int r = a;", True),
        ("int a = threadIdx.x; a = n; int r = a;", False),
    ],
)
def test_mutable_variables_are_uniform_under_uniform_control(body: str, uniform: bool) -> None:
    assert ("r" in uniform_names(body)) is uniform
