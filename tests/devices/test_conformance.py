"""What every device that runs programs must do, on the native CPU and on the emulated GPUs alike."""

from __future__ import annotations

import numpy as np
import pytest

from devices.device import Device
from devices.registry import find_device
from devices.status import Status
from tests.devices.programs import case, gpu, program, run

DOUBLED = {
    "vnni": 'extern "C" void entry(const float* x, float* y) { for (int i = 0; i < 64; ++i) y[i] = 2 * x[i]; }',
} | {
    dialect: gpu(dialect, "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }")
    for dialect in ("cuda", "hip")
}


def variant(dialect: str, statement: str) -> str:
    """The doubling program with another statement in the place of its assignment (index ``i``)."""
    if dialect == "vnni":
        return f'extern "C" void entry(const float* x, float* y) {{ for (int i = 0; i < 64; ++i) {{ {statement} }} }}'
    return gpu(dialect, f"__global__ void k(const float* x, float* y) {{ int i = threadIdx.x; {statement} }}")


@pytest.fixture(params=["vnni", "cuda", "hip"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def device(dialect: str) -> Device:
    return find_device(dialect, prefer=None if dialect == "vnni" else "emulated")


def test_a_right_program_gives_its_outputs_and_leaves_inputs(device: Device, dialect: str) -> None:
    (done,) = run(device, DOUBLED[dialect], dialect)
    assert done.status is Status.OK
    assert np.array_equal(done.outputs["y"], 2 * np.arange(64, dtype=np.float32))
    assert np.array_equal(done.outputs["x"], np.arange(64, dtype=np.float32))


def test_the_same_text_is_built_once(device: Device, dialect: str) -> None:
    first, second = (device.build(program(DOUBLED[dialect], dialect, 64)) for _ in range(2))
    assert first.key == second.key and first.path == second.path


def test_a_compile_error_has_the_users_line(device: Device, dialect: str) -> None:
    build = device.build(program(DOUBLED[dialect] + "\nint broken = nonsense;\n", dialect, 64))
    assert build.status is Status.COMPILE_ERROR and "nonsense" in build.log


@pytest.mark.parametrize(
    ("statement", "buffer"),
    [("y[i] = x[i + 1];", "x"), ("y[i + 1] = x[i];", "y"), ("y[i] = x[i - 1];", "x"), ("y[i] = x[i + 1000000];", "x")],
)
def test_an_access_outside_a_buffer_is_found_near_and_far(device: Device, dialect: str, statement: str, buffer: str) -> None:
    done = run(device, variant(dialect, statement), dialect, cases=2)
    assert any(r.status is Status.OUT_OF_BOUNDS for r in done)
    assert any("buffer" in r.log for r in done if r.status is Status.OUT_OF_BOUNDS)
    assert dialect != "vnni" or any(f"'{buffer}'" in r.log for r in done if r.status is Status.OUT_OF_BOUNDS)


def test_an_endless_program_is_killed_at_the_deadline(device: Device, dialect: str) -> None:
    (done,) = run(device, variant(dialect, "volatile int go = 1; while (go) {} y[i] = 0;"), dialect, timeout=1.0)
    assert done.status is Status.TIMEOUT


def test_a_crash_loses_only_its_own_case(device: Device, dialect: str) -> None:
    text = variant(dialect, "if (x[0] == 1.0f) __builtin_trap(); y[i] = x[i];")
    build = device.build(program(text, dialect, 64))
    fine, bad = case(64), case(64, data=np.ones(64, np.float32))
    runs = device.run(build, (fine, bad, fine), 10.0)
    assert [r.status for r in runs] == [Status.OK, Status.CRASH, Status.OK]


def test_what_is_not_written_keeps_the_poison(dialect: str, device: Device) -> None:
    done = run(device, variant(dialect, "if (i < 60) y[i] = x[i];"), dialect, cases=1)
    assert done[0].status is Status.OK
    tail = done[0].outputs["y"][60:]
    assert np.isnan(tail).all() or (np.abs(tail) > 1e30).all()


def test_a_program_that_does_not_build_runs_nowhere(device: Device, dialect: str) -> None:
    build = device.build(program("int broken = nonsense;", dialect, 64))
    assert [r.status for r in device.run(build, (case(64),), 5.0)] == [Status.COMPILE_ERROR]
    assert device.time(build, case(64), 5.0).status is Status.COMPILE_ERROR


def test_timing_gives_samples_and_its_protocol() -> None:
    device = find_device("vnni")
    timing = device.time(device.build(program(DOUBLED["vnni"], "vnni", 64)), case(64), 30.0)
    assert timing.status is Status.OK and len(timing.samples) >= 5 and timing.median and timing.median > 0 and "warm-up" in timing.protocol


def test_an_element_copied_beyond_the_end_is_found_in_the_slack_of_alignment(device: Device, dialect: str) -> None:
    # What is read there must not look like what was there: NaN copied into a red zone of NaN would not show.
    body = "for (int i = 0; i < 64; ++i) y[i] = x[i];"
    if dialect != "vnni":
        text = f"""// float4
        __global__ void k(const float* x, float* y) {{ {body} }}
        extern "C" void entry(const float* x, float* y) {{
            float *dx, *dy;
            cudaMalloc(&dx, 252); cudaMalloc(&dy, 252);
            cudaMemcpy(dx, x, 252, cudaMemcpyHostToDevice);
            k<<<1, 1>>>(dx, dy);
            cudaMemcpy(y, dy, 252, cudaMemcpyDeviceToHost);
        }}"""
        text = text if dialect == "cuda" else text.replace("cuda", "hip")
    else:
        text = f'/* aligned */ extern "C" void entry(const float* x, float* y) {{ {body} }}'
    assert any(r.status is Status.OUT_OF_BOUNDS for r in run(device, text, dialect, count=63, cases=2))
