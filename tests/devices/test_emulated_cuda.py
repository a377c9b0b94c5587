"""CUDA on the emulator: values of real idioms, and every misuse that it must notice."""

from __future__ import annotations

import numpy as np
import pytest

from devices.registry import find_device
from devices.status import Status
from synth.source import LaunchShape
from tests.devices.programs import case, cuda, program, run

X = np.arange(64, dtype=np.float32)


def outputs(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, grid, block, shared), "cuda")
    assert done.status is Status.OK, done.log
    return done.outputs["y"]


def failure(kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> tuple[Status, str]:
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, grid, block, shared), "cuda")
    return done.status, done.log


def test_a_shared_memory_reduction() -> None:
    y = outputs(
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            int t = threadIdx.x;
            s[t] = x[t];
            __syncthreads();
            for (int d = 32; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
            y[t] = s[0];
        }"""
    )
    assert np.array_equal(y, np.full(64, 2016, np.float32))


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


def test_threads_that_returned_do_not_hold_a_barrier() -> None:
    y = outputs(
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            if (threadIdx.x >= 48) return;
            s[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            y[threadIdx.x] = s[47 - threadIdx.x];
        }"""
    )
    assert np.array_equal(y[:48], X[:48][::-1])


def test_dynamic_shared_memory_and_blocks() -> None:
    y = outputs(
        """__global__ void k(const float* x, float* y) {
            extern __shared__ float s[];
            s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
            __syncthreads();
            y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
        }""",
        grid=4,
        block=16,
        shared=64,
    )
    assert np.array_equal(y, X.reshape(4, 16)[:, ::-1].reshape(-1))


def test_uninitialised_shared_memory_is_nan() -> None:
    assert np.isnan(
        outputs("__global__ void k(const float* x, float* y) { __shared__ float s[64]; y[threadIdx.x] = s[threadIdx.x]; }")
    ).all()


def test_a_missing_barrier_is_a_race() -> None:
    status, _ = failure(
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            s[threadIdx.x] = x[threadIdx.x];
            y[threadIdx.x] = s[63 - threadIdx.x];
        }"""
    )
    assert status is Status.RACE


def test_threads_that_meet_at_different_barriers_are_named() -> None:
    status, log = failure(
        """__global__ void k(const float* x, float* y) {
            if (threadIdx.x < 32) {
                __syncthreads();
                y[threadIdx.x] = x[threadIdx.x];
            } else {
                __syncthreads();
                y[threadIdx.x] = 0;
            }
        }"""
    )
    assert status is Status.RACE and "line 4" in log and "line 7" in log


def test_limits_of_a_launch() -> None:
    status, log = failure("__global__ void k(const float* x, float* y) { y[threadIdx.x % 64] = 0; }", block=2048)
    assert status is Status.LIMIT_EXCEEDED and "1024" in log


def test_shared_memory_out_of_bounds() -> None:
    status, _ = failure(
        "__global__ void k(const float* x, float* y) { __shared__ float s[64]; s[threadIdx.x + 100000] = 1; y[threadIdx.x] = 0; }"
    )
    assert status is Status.OUT_OF_BOUNDS


def test_a_copy_larger_than_its_buffer_is_found() -> None:
    text = cuda("__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }")
    (done,) = run(find_device("cuda", prefer="emulated"), text.replace("cudaMemcpy(dx, x, 64 *", "cudaMemcpy(dx, x, 65 *"), "cuda")
    assert done.status is Status.OUT_OF_BOUNDS


def test_a_bare_kernel_is_launched_by_the_harness() -> None:
    device = find_device("cuda", prefer="emulated")
    text = "__global__ void add(const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i] + 1; }"
    build = device.build(program(text, "cuda", 64, "add", LaunchShape((4, 1, 1), (16, 1, 1))))
    (done,) = device.run(build, (case(64, "add"),), 10.0)
    assert done.status is Status.OK and np.array_equal(done.outputs["y"], X + 1)


def test_the_first_case_at_every_size_finds_a_read_beyond_the_end() -> None:
    text = """__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1] > 1e9f ? 1 : 0; }
    extern "C" void entry(const float* x, float* y) { k<<<1, 8>>>(x, y); }"""
    device = find_device("cuda", prefer="emulated")
    build = device.build(program(text, "cuda", 8, entry="k", launch=LaunchShape((1, 1, 1), (8, 1, 1))))
    runs = device.run(build, (case(16, "k"), case(8, "k")), 10.0)
    assert [done.status for done in runs] == [Status.OK, Status.OUT_OF_BOUNDS]
