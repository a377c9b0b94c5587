"""The CPU of this machine, for dialects ``vnni`` and ``c``: g++ as a user would call it, or strictly for an oracle."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from devices.build_cache import FORMAT, Step, build_once, compiler_version, digest, shared_object
from devices.device import Build, Program, Run, Timing
from devices.gpu_text import rename_definitions, renamed_entry
from devices.harness import RUNTIME, RUNTIME_HEADERS, Plan, Settings, execute, glue_text, measure
from devices.sandbox import cache_root, file_lock
from devices.status import Status
from synth.evidence.cases import TestCase
from synth.spec import DeviceSpec

BUILD_TIMEOUT = 120.0
COMPILER = "g++"
RUNTIME_FLAGS = ("-std=c++17", "-O2")
FAST_FLAGS = ("-O3", "-march=native", "-fopenmp")
# C as written: no contraction of a*b+c into one rounding
REFERENCE_FLAGS = ("-O2", "-march=native", "-fopenmp", "-ffp-contract=off")
COMMON_FLAGS = ("-std=c++17", "-x", "c++", "-Drestrict=__restrict__", "-w", "-fno-diagnostics-color", "-fmax-errors=20")
_ALIGNED_ACCESS = re.compile(r"_mm\d*_(load|store|stream)_(ps|pd|si\d+|epi\d+)\b|\baligned\b|__builtin_assume_aligned|\balignas\b")
POISONS = (0xFF, 0x7F)


def safe_filename(filename: str, suffix: str) -> str:
    """A file name for the program's text inside a build folder, that keeps the user's own in compiler messages."""
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", PurePath(filename).name) or "source"
    return name if "." in name else name + suffix


def harness_objects() -> tuple[Path, Path]:
    """The prebuilt objects of the harness: its main and the guarded memory."""
    main, memory = RUNTIME / "harness.cpp", RUNTIME / "memory.cpp"
    return (
        shared_object("harness", (main, *RUNTIME_HEADERS), RUNTIME_FLAGS, COMPILER),
        shared_object("memory", (memory, *RUNTIME_HEADERS), RUNTIME_FLAGS, COMPILER),
    )


def plan_of(index: int, alignment: int) -> Plan:
    """Cases alternate the end of the mapping that a buffer touches, and the byte that poisons outputs."""
    return Plan(placement=index % 2, poison=POISONS[index % 2], alignment=alignment)


@dataclass(frozen=True, slots=True)
class NativeCpu:
    """``reference`` builds with ``REFERENCE_FLAGS`` (for a source that serves as oracle) instead of ``FAST_FLAGS``."""

    spec: DeviceSpec
    reference: bool = False
    kind: str = "hardware"

    def flags(self, program: Program) -> tuple[str, ...]:
        return (*COMMON_FLAGS, *(REFERENCE_FLAGS if self.reference else FAST_FLAGS))

    def build(self, program: Program) -> Build:
        version = compiler_version(COMPILER)
        if not version:
            return Build(Status.UNSUPPORTED, "", None, "g++ was not found; install it (Debian: apt install g++)")
        if program.launch is not None:
            return Build(Status.UNSUPPORTED, "", None, "a bare kernel has no launch on a CPU")
        name = safe_filename(program.filename, ".c")
        text, renamed = rename_definitions(program.text)
        entry = renamed_entry(program.entry) if program.entry in renamed else program.entry
        try:
            glue = glue_text(program, name, entry)
        except ValueError as error:
            return Build(Status.UNSUPPORTED, "", None, str(error))
        main, memory = harness_objects()
        flags = self.flags(program)
        headers = [part for item in sorted(program.headers.items()) for part in item]
        key = digest([FORMAT, "native", version, *flags, name, text, glue, *headers, str(main), str(memory), cpu_flags()])
        libraries = (*(("-lmvec",) if has_mvec() else ()), "-lm")
        steps = [
            Step((COMPILER, *flags, "-I", "{out}", "-c", "{out}/xp_glue.cpp", "-o", "{out}/xp_glue.o")),
            Step((COMPILER, "-fopenmp", "{out}/xp_glue.o", str(main), str(memory), *libraries, "-o", "{out}/program")),
        ]
        files = {**program.headers, name: text, "xp_glue.cpp": glue, "alignment": str(alignment_of(program))}
        return build_once(key, files, steps, BUILD_TIMEOUT)

    def run(self, build: Build, cases: tuple[TestCase, ...], timeout: float) -> tuple[Run, ...]:
        if build.path is None:
            return tuple(Run(build.status, {}, build.log) for _ in cases)
        alignment = int((build.path.parent / "alignment").read_text())
        planned = [(index, plan_of(index, alignment)) for index in range(len(cases))]
        return execute(build.path, cases, planned, Settings(), timeout)

    def time(self, build: Build, case: TestCase, timeout: float) -> Timing:
        if build.path is None:
            return Timing(build.status, (), "", build.log)
        with file_lock(cache_root() / "locks" / "cpu-timing.lock"):  # one timing at a time; the deadline counts from here
            timing, _ = measure(build.path, case, Settings(), timeout)
        return timing


def alignment_of(program: Program) -> int:
    """64 bytes where the text uses aligned accesses, else one element, so that the end of a buffer is exact."""
    if _ALIGNED_ACCESS.search(program.text):
        return 64
    return min((p.dtype.bytes for p in program.params if p.is_buffer), default=1) if program.params else 1


def has_mvec() -> bool:
    """Whether glibc's vector mathematics can be linked (x86-64 and aarch64 glibc only)."""
    return any(
        Path(folder, "libmvec.so.1").exists()
        for folder in ("/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib/aarch64-linux-gnu", "/usr/lib")
    )


def cpu_flags() -> str:
    """The CPU's feature flags as the kernel lists them: ``-march=native`` depends on them."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return os.uname().machine
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    return found.group(1) if found else os.uname().machine
