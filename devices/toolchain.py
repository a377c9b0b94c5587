"""A vendor's compiler as a check: does a source compile for a target? Nothing is run, so no device is needed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from devices.build_cache import FORMAT, Step, build_once, compiler_version, digest
from devices.device import Build, Program
from devices.native_cpu import safe_filename
from devices.status import Status

TIMEOUT = 180.0


@dataclass(frozen=True, slots=True)
class Toolchain:
    """``compiler``: its name on the path; ``prefix``: what stands before it on a command line; ``suffix``: of its sources."""

    compiler: str
    suffix: str
    prefix: tuple[str, ...] = ()

    def is_available(self) -> bool:
        """Whether the compiler is on the path."""
        return shutil.which(self.compiler) is not None

    def compile_check(self, program: Program, flags: tuple[str, ...]) -> Build:
        """Compiles ``program.text`` to an object; COMPILE_ERROR with the compiler's log, UNSUPPORTED without it. Cached by content."""
        version = compiler_version(self.compiler)
        if not version:
            return Build(Status.UNSUPPORTED, "", None, f"{self.compiler} was not found")
        name = safe_filename(program.filename, self.suffix)
        flags = (*flags, "-std=c++17", *(f"-D{key}={value}" for key, value in program.defines.items()))
        headers = (part for item in sorted(program.headers.items()) for part in item)
        key = digest([FORMAT, f"{self.compiler} check", version, *self.prefix, *flags, name, program.text, *headers])
        step = Step((*self.prefix, self.compiler, *flags, "-I", "{out}", "-c", "{out}/" + name, "-o", "{out}/program"))
        return build_once(key, {**program.headers, name: program.text}, [step], TIMEOUT)
