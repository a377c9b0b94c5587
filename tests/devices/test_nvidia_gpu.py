"""The real GPU. Without one only the build is tried; the runs are what has to pass on a machine that has one."""

from __future__ import annotations

import numpy as np
import pytest

from devices import nvcc, nvidia_gpu
from devices.emulated_gpu import EmulatedGpu
from devices.nvidia_gpu import NvidiaGpu
from devices.registry import find_device
from devices.status import Status
from synth.errors import UnsupportedError
from synth.source import LaunchShape
from synth.spec import SPECS
from tests.devices.programs import case, cuda, program

KERNEL = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }"
DEVICE = NvidiaGpu(SPECS["sm_80"])
needs_nvcc = pytest.mark.skipif(not nvcc.is_available(), reason="nvcc is not installed")
needs_gpu = pytest.mark.skipif(not nvidia_gpu.is_available(), reason="no NVIDIA GPU with nvcc")


def test_without_a_gpu_the_emulator_is_found_and_hardware_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia_gpu, "is_available", lambda: False)
    assert isinstance(find_device("cuda"), EmulatedGpu)
    with pytest.raises(UnsupportedError, match="no NVIDIA GPU"):
        find_device("cuda", prefer="hardware")


def test_with_a_gpu_it_is_used_unless_the_emulator_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia_gpu, "is_available", lambda: True)
    assert isinstance(find_device("cuda"), NvidiaGpu)
    assert isinstance(find_device("cuda", prefer="emulated"), EmulatedGpu)


@needs_nvcc
def test_a_wrapper_and_its_harness_build_with_nvcc() -> None:
    build = DEVICE.build(program(cuda(KERNEL), "cuda", 64))
    assert build.status is Status.OK and build.path is not None and build.path.exists()


@needs_nvcc
def test_an_error_of_the_source_has_its_line() -> None:
    build = DEVICE.build(program(cuda(KERNEL) + "\nint broken = nonsense;\n", "cuda", 64))
    assert build.status is Status.COMPILE_ERROR and "nonsense" in build.log


@needs_gpu
def test_a_wrapper_and_a_bare_kernel_run() -> None:
    wrapper = DEVICE.build(program(cuda(KERNEL), "cuda", 64))
    kernel = DEVICE.build(program(KERNEL, "cuda", 64, "k", LaunchShape((1, 1, 1), (64, 1, 1))))
    for build, entry in ((wrapper, "entry"), (kernel, "k")):
        (done,) = DEVICE.run(build, (case(64, entry),), 30.0)
        assert done.status is Status.OK and np.array_equal(done.outputs["y"], 2 * np.arange(64, dtype=np.float32))
        assert DEVICE.time(build, case(64, entry), 30.0).status is Status.OK
