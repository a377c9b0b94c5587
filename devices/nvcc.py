"""The real CUDA compiler as a check: does a source compile for a target? Nothing is run, so no GPU is needed."""

from __future__ import annotations

import shutil

from devices.build_cache import FORMAT, Step, build_once, compiler_version, digest
from devices.device import Build, Program
from devices.native_cpu import safe_filename
from devices.status import Status
from synth.spec import DeviceSpec

COMPILER = "nvcc"
TIMEOUT = 180.0


def is_available() -> bool:
    """Whether nvcc is on the path."""
    return shutil.which(COMPILER) is not None


def compile_check(program: Program, spec: DeviceSpec) -> Build:
    """Compiles ``program.text`` to an object for ``spec``; COMPILE_ERROR with nvcc's log, UNSUPPORTED without nvcc. Cached by content."""
    version = compiler_version(COMPILER)
    if not version:
        return Build(Status.UNSUPPORTED, "", None, "nvcc was not found")
    name = safe_filename(program.filename, ".cu")
    defines = tuple(f"-D{key}={value}" for key, value in program.defines.items())
    flags = (f"-arch={spec.name}", "-std=c++17", *defines)
    key = digest([FORMAT, "nvcc check", version, *flags, name, program.text, *sorted(program.headers.values())])
    step = Step((COMPILER, *flags, "-I", "{out}", "-c", "{out}/" + name, "-o", "{out}/program"))
    return build_once(key, {**program.headers, name: program.text}, [step], TIMEOUT)
