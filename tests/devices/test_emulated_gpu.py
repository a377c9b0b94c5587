"""What the emulator does alike for CUDA and for HIP: values of real idioms, and every misuse that it must notice."""

from __future__ import annotations

import numpy as np
import pytest

from devices.registry import find_device
from devices.status import Status
from synth.source import LaunchShape
from tests.devices.programs import case, gpu, program, run

X = np.arange(64, dtype=np.float32)


def outputs(dialect: str, kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    (done,) = run(find_device(dialect, prefer="emulated"), gpu(dialect, kernel, grid, block, shared), dialect)
    assert done.status is Status.OK, done.log
    return done.outputs["y"]


def failure(dialect: str, kernel: str, grid: int = 1, block: int = 64, shared: int = 0) -> tuple[Status, str]:
    (done,) = run(find_device(dialect, prefer="emulated"), gpu(dialect, kernel, grid, block, shared), dialect)
    return done.status, done.log


@pytest.fixture(params=["cuda", "hip"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_shared_memory_reduction(dialect: str) -> None:
    y = outputs(
        dialect,
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            int t = threadIdx.x;
            s[t] = x[t];
            __syncthreads();
            for (int d = 32; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
            y[t] = s[0];
        }""",
    )
    assert np.array_equal(y, np.full(64, 2016, np.float32))


def test_threads_that_returned_do_not_hold_a_barrier(dialect: str) -> None:
    y = outputs(
        dialect,
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            if (threadIdx.x >= 48) return;
            s[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            y[threadIdx.x] = s[47 - threadIdx.x];
        }""",
    )
    assert np.array_equal(y[:48], X[:48][::-1])


def test_dynamic_shared_memory_and_blocks(dialect: str) -> None:
    y = outputs(
        dialect,
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


def test_uninitialised_shared_memory_is_nan(dialect: str) -> None:
    assert np.isnan(
        outputs(dialect, "__global__ void k(const float* x, float* y) { __shared__ float s[64]; y[threadIdx.x] = s[threadIdx.x]; }")
    ).all()


def test_a_missing_barrier_is_a_race(dialect: str) -> None:
    status, _ = failure(
        dialect,
        """__global__ void k(const float* x, float* y) {
            __shared__ float s[64];
            s[threadIdx.x] = x[threadIdx.x];
            y[threadIdx.x] = s[63 - threadIdx.x];
        }""",
    )
    assert status is Status.RACE


def test_threads_that_meet_at_different_barriers_are_named(dialect: str) -> None:
    status, log = failure(
        dialect,
        """__global__ void k(const float* x, float* y) {
            if (threadIdx.x < 32) {
                __syncthreads();
                y[threadIdx.x] = x[threadIdx.x];
            } else {
                __syncthreads();
                y[threadIdx.x] = 0;
            }
        }""",
    )
    assert status is Status.RACE and "line 4" in log and "line 7" in log


def test_limits_of_a_launch(dialect: str) -> None:
    status, log = failure(dialect, "__global__ void k(const float* x, float* y) { y[threadIdx.x % 64] = 0; }", block=2048)
    assert status is Status.LIMIT_EXCEEDED and "1024" in log


def test_shared_memory_out_of_bounds(dialect: str) -> None:
    status, _ = failure(
        dialect, "__global__ void k(const float* x, float* y) { __shared__ float s[64]; s[threadIdx.x + 100000] = 1; y[threadIdx.x] = 0; }"
    )
    assert status is Status.OUT_OF_BOUNDS


def test_a_copy_larger_than_its_buffer_is_found(dialect: str) -> None:
    text = gpu(dialect, "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }")
    (done,) = run(find_device(dialect, prefer="emulated"), text.replace("Memcpy(dx, x, 64 *", "Memcpy(dx, x, 65 *"), dialect)
    assert done.status is Status.OUT_OF_BOUNDS


def test_a_bare_kernel_is_launched_by_the_harness(dialect: str) -> None:
    device = find_device(dialect, prefer="emulated")
    text = "__global__ void add(const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i] + 1; }"
    build = device.build(program(text, dialect, 64, "add", LaunchShape((4, 1, 1), (16, 1, 1))))
    (done,) = device.run(build, (case(64, "add"),), 10.0)
    assert done.status is Status.OK and np.array_equal(done.outputs["y"], X + 1)


def test_the_first_case_at_every_size_finds_a_read_beyond_the_end(dialect: str) -> None:
    text = """__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1] > 1e9f ? 1 : 0; }
    extern "C" void entry(const float* x, float* y) { k<<<1, 8>>>(x, y); }"""
    device = find_device(dialect, prefer="emulated")
    build = device.build(program(text, dialect, 8, entry="k", launch=LaunchShape((1, 1, 1), (8, 1, 1))))
    runs = device.run(build, (case(16, "k"), case(8, "k")), 10.0)
    assert [done.status for done in runs] == [Status.OK, Status.OUT_OF_BOUNDS]
