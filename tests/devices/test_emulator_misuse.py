"""What the emulated GPU must refuse, each with the offender named."""

from __future__ import annotations

import pytest

from devices.device import Run
from devices.registry import find_device
from devices.status import Status
from synth.source import LaunchShape
from tests.devices.programs import case, gpu, program, run


@pytest.fixture(params=["cuda", "hip"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


COPY = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }"


def fails(dialect: str, kernel: str, grid: int = 1, block: int = 64, shared: int = 0, timeout: float = 10.0) -> Run:
    return run(find_device(dialect, prefer="emulated"), gpu(dialect, kernel, grid, block, shared), dialect, timeout=timeout)[0]


def host_fails(dialect: str, old: str, new: str) -> Run:
    """The copying program with ``old`` replaced in its host part."""
    text = gpu(dialect, COPY)
    if dialect == "hip":
        old, new = old.replace("cuda", "hip"), new.replace("cuda", "hip")
    assert old in text
    return run(find_device(dialect, prefer="emulated"), text.replace(old, new), dialect)[0]


def kernel(body: str) -> str:
    return f"__global__ void k(const float* x, float* y) {{ __shared__ float s[64]; int t = threadIdx.x; s[t] = x[t];\n{body}\n}}"


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ("y[t] = x[t + 64 * 1024];", "read outside buffer 'dx' of 256 bytes, at byte offset 262144"),
        ("y[t - 100000] = 1;", "write outside buffer 'dy' of 256 bytes, at byte offset -400000"),
        (
            "y[t] = x[t + (t == 63)];",
            "read outside buffer 'dx' of 256 bytes, at byte offset 256, in kernel k, block (0,0,0), thread (63,0,0)",
        ),
        ("y[t] = s[t + 1];", "read outside buffer 's' of 256 bytes, at byte offset 256"),
        ("s[t - 1000000] = 1;", "write outside buffer 's' of 256 bytes, at byte offset -4000000"),
    ],
)
def test_accesses_out_of_bounds_name_buffer_place_and_thread(dialect: str, access: str, said: str) -> None:
    done = fails(dialect, kernel(access))
    assert done.status is Status.OUT_OF_BOUNDS and said in done.log, done.log


def test_a_store_just_below_shared_memory_is_found(dialect: str) -> None:
    done = fails(dialect, kernel("s[t - 4] = 1; y[t] = 0;"))
    assert done.status is Status.OUT_OF_BOUNDS and "'s'" in done.log, done.log


@pytest.mark.parametrize(
    ("old", "new", "status", "said"),
    [
        ("cudaFree(dy);", "cudaFree(dy); cudaFree(dy);", Status.CRASH, "'dy', which was freed before"),
        ("cudaFree(dy);", "cudaFree(dy + 1);", Status.CRASH, "a pointer into its middle"),
        ("cudaFree(dy);", "cudaFree(y);", Status.CRASH, "'y' of the caller"),
        ("cudaMemcpy(dx, x,", "cudaFree(dx); cudaMemcpy(dx, x,", Status.OUT_OF_BOUNDS, "'dx' after it was freed"),
        ("cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", Status.CRASH, "against the direction of the copy"),
        ("cudaMemcpy(y, dy, 64 *", "cudaMemcpy(y, dy, 65 *", Status.OUT_OF_BOUNDS, "which has 256 bytes"),
        ("k<<<1, 64, 0>>>(dx, dy);", "cudaFree(dx); k<<<1, 64, 0>>>(dx, dy);", Status.OUT_OF_BOUNDS, "'dx' after it was freed"),
        ("k<<<1, 64, 0>>>", "k<<<0, 64, 0>>>", Status.LIMIT_EXCEEDED, "gridDim.x is 0"),
        ("cudaFree(dy);", "exit(7);", Status.CRASH, "exit code 7"),
        ("cudaFree(dy);", "abort();", Status.CRASH, "abort"),
    ],
)
def test_misuse_of_the_host_api(dialect: str, old: str, new: str, status: Status, said: str) -> None:
    done = host_fails(dialect, old, new)
    assert done.status is status and said in done.log, (done.status, done.log)


@pytest.mark.parametrize(
    ("language", "configuration", "said"),
    [
        ("cuda", "1, dim3(8, 8, 65), 0", "blockDim.z is 65, the device allows 64"),
        ("cuda", "dim3(1, 65536), 64, 0", "gridDim.y is 65536"),
        ("cuda", "1, 64, 50000", "50000 bytes of dynamic shared memory"),
        ("hip", "dim3(1, 65537), 64, 0", "gridDim.y is 65537"),
        ("hip", "1, dim3(8, 8, 65), 0", "4160 threads per block"),
        ("hip", "1, 64, 70000", "70000 bytes of dynamic shared memory"),
    ],
)
def test_limits_of_the_target(language: str, configuration: str, said: str) -> None:
    done = host_fails(language, "k<<<1, 64, 0>>>", f"k<<<{configuration}>>>")
    assert done.status is Status.LIMIT_EXCEEDED and said in done.log, (done.status, done.log)


def test_dynamic_shared_memory_can_be_opted_into() -> None:
    opted = "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000); k<<<1, 64, 50000>>>"
    assert host_fails("cuda", "k<<<1, 64, 0>>>", opted).status is Status.OK
    beyond = opted.replace("50000", "200000")  # sm_80 has 163 KiB
    assert host_fails("cuda", "k<<<1, 64, 0>>>", beyond).status is Status.LIMIT_EXCEEDED


def test_static_shared_arrays_count_together() -> None:
    done = fails(
        "cuda", "__global__ void k(const float* x, float* y) { __shared__ float a[8192], b[8192]; a[0] = 1; b[0] = 2; y[0] = a[0] + b[0]; }"
    )
    assert done.status is Status.LIMIT_EXCEEDED and "65536 bytes of shared memory" in done.log


def test_a_barrier_that_not_all_reach_is_a_deadlock() -> None:
    done = fails("cuda", kernel("if (t % 2)\n __syncthreads();\nelse y[t] = __shfl_sync(~0u, x[t], 0);"))
    assert done.status is Status.RACE and "deadlock in kernel k" in done.log, done.log
    assert "thread (0,0,0) waits at __shfl_sync in line 5 for lanes 0xffffffff" in done.log
    assert "thread (1,0,0) waits at __syncthreads in line 4" in done.log


def test_a_mask_must_name_its_caller() -> None:
    done = fails("cuda", kernel("y[t] = __shfl_down_sync(0x0000ffffu, s[t], 1);"))
    assert done.status is Status.RACE and "does not name the calling lane 16" in done.log


def test_lanes_at_different_shuffles_are_named() -> None:
    done = fails(
        "cuda", kernel("float v;\nif (t % 2) v = __shfl_xor_sync(~0u, s[t], 2);\nelse v = __shfl_down_sync(~0u, s[t], 2);\ny[t] = v;")
    )
    assert done.status is Status.RACE and "divergent warp operation" in done.log and "line 4" in done.log and "line 5" in done.log


def test_an_endless_kernel_is_stopped(dialect: str) -> None:
    assert fails(dialect, kernel("while (((volatile float*)s)[0] >= -1.0f) {}"), timeout=0.7).status is Status.TIMEOUT


def test_threads_that_add_without_atomics_are_not_always_seen(dialect: str) -> None:
    """A limit of the method, stated in emulator/README.md: nobody interrupts a read-modify-write here."""
    done = fails(dialect, "__global__ void k(const float* x, float* y) { if (threadIdx.x == 0) y[0] = 0; __syncthreads(); y[0] += 1; }")
    assert done.status is Status.OK


def test_a_race_between_blocks_is_found(dialect: str) -> None:
    done = fails(dialect, "__global__ void k(const float* x, float* y) { y[threadIdx.x] = blockIdx.x; }", grid=4)
    assert done.status is Status.RACE and "buffer 'y' element 0" in done.log


def test_sums_of_atomics_may_round_differently(dialect: str) -> None:
    text = """__global__ void k(const float* x, float* y) {
        if (threadIdx.x == 0) for (int i = 0; i < 64; ++i) y[i] = 0;
        __syncthreads();
        atomicAdd(&y[0], 1.0f / (x[threadIdx.x] + 1.0f));
    }"""
    done = fails(dialect, text)
    assert done.status is Status.OK and abs(done.outputs["y"][0] - 4.7438908) < 1e-5


def test_a_missing_syncwarp_is_a_race(dialect: str) -> None:
    body = "volatile float* v = s;\n" + "".join(f"if (t < {d}) v[t] += v[t + {d}];\n" for d in (16, 8, 4, 2, 1)) + "y[t] = v[0];"
    assert fails(dialect, kernel("__syncthreads();\n" + body)).status is Status.RACE


def test_a_division_by_zero_is_named(dialect: str) -> None:
    done = fails(dialect, kernel("int z = (int)s[0]; y[t] = t / z;"))
    assert done.status is Status.CRASH and "division by zero" in done.log


def test_too_deep_a_recursion_does_not_take_the_harness_along(dialect: str) -> None:
    deep = "__device__ int f(int n, volatile int* p) { volatile int a[4096]; a[n % 4096] = n; return n ? f(n - 1, a) + a[0] : p[0]; }\n"
    done = fails(dialect, deep + kernel("volatile int q[1] = {0}; y[t] = f(1000, q);"))
    assert done.status in (Status.CRASH, Status.OUT_OF_BOUNDS)


def test_a_bare_kernel_obeys_limits_too(dialect: str) -> None:
    device = find_device(dialect, prefer="emulated")
    build = device.build(program("__global__ void k(const float* x, float* y) {}", dialect, 64, "k", LaunchShape((1, 1, 1), (1024, 2, 1))))
    (done,) = device.run(build, (case(64, "k"),), 10.0)
    assert done.status is Status.LIMIT_EXCEEDED and "2048 threads" in done.log
