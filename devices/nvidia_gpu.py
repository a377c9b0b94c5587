"""CUDA on a real GPU: the source compiled by nvcc, run by the same harness as everywhere else.

Written against the CUDA runtime API and built here with nvcc, but this project has had no machine with an NVIDIA GPU to run it on: what
runs is untested until ``tests/devices/test_nvidia_gpu.py`` has passed on one. Bounds are checked only as far as the hardware does (guard
regions are around host pointers, not around device memory), orders of threads are the hardware's own, and in a timing the in-out buffers
of a bare kernel are not restored between calls.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from devices.build_cache import FORMAT, Step, build_once, compiler_version, digest
from devices.device import Build, Program, Run, Timing
from devices.harness import RUNTIME, RUNTIME_HEADERS, Plan, Settings, execute, glue_text, measure
from devices.native_cpu import POISONS, harness_objects, safe_filename
from devices.sandbox import GIB, Limits, cache_root, file_lock, run_command, workspace
from devices.status import Status
from synth.evidence.cases import TestCase
from synth.ir.grammar import Space
from synth.spec import DeviceSpec

COMPILER = "nvcc"
BUILD_TIMEOUT = 300.0
# cudaMalloc aligns to 256 bytes; the copies in host memory need no more than their own element's alignment, but pinned transfers like pages
_ALIGNMENT = 256
# the driver maps many gigabytes of its own
_LIMITS = Limits(data_bytes=256 * GIB)


def has_gpu() -> bool:
    """Whether an NVIDIA GPU answers: its device file exists, and nvidia-smi (where there is one) lists it."""
    if not Path("/dev/nvidia0").exists():
        return False
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return True
    with workspace() as folder:
        done = run_command((tool, "-L"), 20.0, folder)
    return done.succeeded and "GPU" in done.stdout


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Whether this device can build and run: nvcc and a GPU."""
    return shutil.which(COMPILER) is not None and has_gpu()


@dataclass(frozen=True, slots=True)
class NvidiaGpu:
    """``oracle`` turns contraction off (``-fmad=false``)."""

    spec: DeviceSpec
    oracle: bool = False
    kind: str = "hardware"

    def build(self, program: Program) -> Build:
        version = compiler_version(COMPILER)
        if not version:
            return Build(Status.UNSUPPORTED, "", None, "nvcc was not found")
        name = safe_filename(program.filename, ".cu")
        try:
            glue = _glue(program, name)
        except ValueError as error:
            return Build(Status.UNSUPPORTED, "", None, str(error))
        objects = [str(path) for path in harness_objects()]
        defines = tuple(f"-D{key}={value}" for key, value in program.defines.items())
        flags = ("-std=c++17", "-O3", "-w", f"-arch={self.spec.name}", *(("-fmad=false",) if self.oracle else ()), *defines)
        own = [path.read_bytes() for path in (RUNTIME / "nvidia.h", *RUNTIME_HEADERS)]
        headers = [part for item in sorted(program.headers.items()) for part in item]
        key = digest([FORMAT, "nvidia gpu", version, *flags, name, program.text, glue, *headers, *own, *objects])
        include = ("-I", "{out}", "-I", str(RUNTIME))
        steps = [Step((COMPILER, *flags, *include, "{out}/xp_glue.cu", *objects, "-o", "{out}/program"))]
        return build_once(key, {**program.headers, name: program.text, "xp_glue.cu": glue}, steps, BUILD_TIMEOUT)

    def run(self, build: Build, cases: tuple[TestCase, ...], timeout: float) -> tuple[Run, ...]:
        if build.path is None:
            return tuple(Run(build.status, {}, build.log) for _ in cases)
        planned = [(index, Plan(placement=index % 2, poison=POISONS[index % 2], alignment=_ALIGNMENT)) for index in range(len(cases))]
        return execute(build.path, cases, planned, Settings(), timeout, _LIMITS)

    def time(self, build: Build, case: TestCase, timeout: float) -> Timing:
        """A host wrapper's time includes its copies and launches; a bare kernel's is launch and execution, its buffers already in place."""
        if build.path is None:
            return Timing(build.status, (), "", build.log)
        with file_lock(cache_root() / "locks" / "gpu-timing.lock"):
            timing, _ = measure(build.path, case, Settings(), timeout, _LIMITS)
        return timing


def _glue(program: Program, name: str) -> str:
    """The glue of ``harness.glue_text``, with device pointers replaced by copies in device memory."""
    launch = ""
    if program.launch is not None:
        shape = program.launch
        grid, block = (f"dim3({', '.join(map(str, extent))})" for extent in (shape.grid, shape.block))
        launch = f"::{program.entry}<<<{grid}, {block}, {shape.dynamic_shared_bytes}>>>({{arguments}})"
    text = glue_text(program, name, program.entry, launch)
    for index, param in enumerate(program.params):
        if param.is_buffer and (program.launch is not None or param.space is Space.GLOBAL):
            text = text.replace(
                f"xp_glue::Pointer{{xp_arguments[{index}]}}", f"xp_glue::Pointer{{xp_nvidia::device_copy(xp_arguments[{index}])}}"
            )
    return '#include "nvidia.h"\n' + text.replace("void** xp_arguments) { ", "void** xp_arguments) { xp_nvidia::begin(); ")
