"""CUDA on the emulator: warps of 32 lanes with masks."""

from __future__ import annotations

import numpy as np
import pytest

from devices.registry import find_device
from devices.status import Status
from tests.devices.programs import cuda, run

X = np.arange(64, dtype=np.float32)


def outputs(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, grid, block, shared), "cuda")
    assert done.status is Status.OK, done.log
    return done.outputs["y"]


def failure(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> tuple[Status, str]:
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, grid, block, shared), "cuda")
    return done.status, done.log


@pytest.mark.parametrize(
    ("shuffle", "expected"),
    [
        ("__shfl_down_sync(~0u, v, 1)", [*range(1, 32), 31, *range(33, 64), 63]),
        ("__shfl_up_sync(~0u, v, 2)", [0, 1, *range(30), 32, 33, *range(32, 62)]),
        ("__shfl_xor_sync(~0u, v, 16)", [i ^ 16 for i in range(64)]),
        ("__shfl_sync(~0u, v, 3, 8)", [i // 8 * 8 + 3 for i in range(64)]),
        ("__shfl_down_sync(~0u, v, 1, 4)", [i + 1 if i % 4 < 3 else i for i in range(64)]),
    ],
)
def test_shuffles_with_width(shuffle: str, expected: list[int]) -> None:
    y = outputs(f"__global__ void k(const float* x, float* y) {{ float v = x[threadIdx.x]; y[threadIdx.x] = {shuffle}; }}")
    assert np.array_equal(y, np.array(expected, np.float32))


def test_votes() -> None:
    y = outputs("__global__ void k(const float* x, float* y) { y[threadIdx.x] = __popc(__ballot_sync(~0u, x[threadIdx.x] < 40)); }")
    assert np.array_equal(y, np.array([32] * 32 + [8] * 32, np.float32))
