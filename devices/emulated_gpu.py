"""A GPU without a GPU: the source text itself, compiled by g++ against the emulator's headers and linked with its prebuilt runtime.

What CUDA and HIP share; ``emulated_cuda.py`` and ``emulated_hip.py`` say in what they differ.

What is always checked: bounds of every buffer and shared array by guard regions, copies and frees, launch limits, convergence of barriers
and warp operations, deadlock. What is not is stated in ``emulator/README.md``. Races show as a difference between orders of the threads:
the first case of each set of sizes is run forwards, backwards and shuffled; the others forwards.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import synth
from devices.build_cache import FORMAT, Step, build_once, compiler_version, digest, shared_object, tree_digest
from devices.device import Build, Program, Run, Timing
from devices.gpu_text import rewrite
from devices.harness import RUNTIME, RUNTIME_HEADERS, Plan, Settings, execute, glue_text, measure
from devices.native_cpu import BUILD_TIMEOUT, COMPILER, POISONS, RUNTIME_FLAGS, harness_objects, safe_filename
from devices.status import Status
from synth.evidence.cases import Array, BufferArg, TestCase
from synth.ir.grammar import Space
from synth.spec import DeviceSpec

EMULATOR = Path(__file__).parent / "emulator"
INCLUDE = EMULATOR / "include"
# Headers that the emulator lacks (libraries, tensor types) are taken from the frontend: declarations that unreached code may name.
PARSE_ONLY = Path(synth.__file__).parent / "frontend" / "include"
FORWARD, BACKWARD, SHUFFLED = 0, 1, 2
ORDER_NAMES = ("forward", "backward", "shuffled")
# C as written: no contraction, no reassociation; -O2 is enough (emulation.md)
FLAGS = (
    "-std=c++17",
    "-O2",
    "-w",
    "-Wno-narrowing",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-diagnostics-color",
    "-fmax-errors=20",
)
_VECTOR_TYPE = re.compile(
    r"\b(?:u?(?:char|short|int|long|longlong)|float|double)[24]\b|\bhalf2\b|__half2\b|__nv_bfloat162\b|__hip_bfloat162\b|reinterpret_cast"
    r"|\b(?:ext_vector_type|(?:__)?vector_size(?:__)?)\b"
)
_MEETING = re.compile(
    r"__shared__|HIP_DYNAMIC_SHARED|__sync|__shfl|__(?:any|all|ballot|match|reduce|activemask)\w*|__builtin_amdgcn_|\batomic[A-Z]"
    r"|wmma|cooperative_groups|\bvolatile\b"
)
_ATOMIC = re.compile(r"\batomic[A-Z]\w*\s*\(")


@dataclass(frozen=True, slots=True)
class GpuLanguage:
    """What the emulator of one dialect needs besides the common runtime. ``header`` is what its compiler includes by itself (or what every
    file includes), ``suffix`` the ending of its files; ``definitions`` gives the macros that its compiler defines for a target;
    ``opt_in_shared_bytes`` what a program may ask for beyond ``shared_bytes`` of a target, and ``capability`` the number of a target that
    the queries report (10 * major + minor)."""

    name: str
    suffix: str
    header: str
    definitions: Callable[[DeviceSpec], tuple[str, ...]]
    opt_in_shared_bytes: Callable[[DeviceSpec], int]
    capability: Callable[[DeviceSpec], int]


@dataclass(frozen=True, slots=True)
class EmulatedGpu:
    """``workers``: OS threads for blocks, 0 for one a core. ``orders``: how the threads of a block are ordered, the first one is the
    result."""

    spec: DeviceSpec
    language: GpuLanguage
    workers: int = 0
    orders: tuple[int, ...] = (FORWARD, BACKWARD, SHUFFLED)
    kind: str = "emulated"

    def build(self, program: Program) -> Build:
        version = compiler_version(COMPILER)
        if not version:
            return Build(Status.UNSUPPORTED, "", None, "g++ was not found; install it (Debian: apt install g++)")
        name = safe_filename(program.filename, self.language.suffix)
        text, entry = rewrite(program.text, program.entry)
        headers = {header: rewrite(inside, program.entry)[0] for header, inside in program.headers.items()}
        try:
            glue = glue_text(program, name, entry, _launch_text(program, entry))
        except ValueError as error:
            return Build(Status.UNSUPPORTED, "", None, str(error))
        objects = [str(path) for path in (*harness_objects(), *runtime_objects())]
        flags = (*FLAGS, f"-DXP_WARP_SIZE={self.spec.warp_size}", *self.language.definitions(self.spec))
        key = digest(
            [
                FORMAT,
                "emulated_gpu 1",
                self.language.name,
                version,
                *flags,
                name,
                program.text,
                text,
                glue,
                *(part for item in sorted(headers.items()) for part in item),
                tree_digest(INCLUDE),
                *objects,
            ]
        )
        files = {**headers, name: text, "xp_glue.cpp": glue, "facts": _Facts.of(program).to_json()}
        include = ("-x", "c++", "-I", str(INCLUDE), "-I", "{out}", "-idirafter", str(PARSE_ONLY), "-include", self.language.header)
        steps = [
            Step((COMPILER, *flags, *include, "-ffunction-sections", "-c", "{out}/xp_glue.cpp", "-o", "{out}/xp_glue.o")),
            Step((COMPILER, "-no-pie", "-Wl,--gc-sections", "{out}/xp_glue.o", *objects, "-pthread", "-lm", "-o", "{out}/program")),
        ]
        return build_once(key, files, steps, BUILD_TIMEOUT)

    def run(self, build: Build, cases: tuple[TestCase, ...], timeout: float) -> tuple[Run, ...]:
        if build.path is None:
            return tuple(Run(build.status, {}, build.log) for _ in cases)
        facts, settings = self._settings(build.path)
        planned: list[tuple[int, Plan]] = []
        seen: set[tuple[int, ...]] = set()
        for index, case in enumerate(cases):
            sizes = tuple(a.count if isinstance(a, BufferArg) else 0 for a in case.args)
            orders = self._orders(facts) if sizes not in seen else self.orders[:1]
            # The first run at new sizes has the ends of its buffers at the guards, where every read beyond them is seen.
            first = 0 if sizes not in seen else index
            seen.add(sizes)
            planned += [(index, Plan(order, (first + n) % 2, POISONS[index % 2], facts.alignment)) for n, order in enumerate(orders)]
        done = execute(build.path, cases, planned, settings, timeout)
        runs: list[Run] = []
        for index in range(len(cases)):
            mine = [(plan.order, run) for (case, plan), run in zip(planned, done, strict=True) if case == index]
            runs.append(_judge(mine, facts.has_atomics))
        return tuple(runs)

    def _orders(self, facts: _Facts) -> tuple[int, ...]:
        """The orders that tell a race. Where threads never wait for each other, each runs to its end before the next one starts: backwards
        then turns every pair around, and a shuffle shows nothing new."""
        return self.orders if facts.threads_meet else self.orders[:2]

    def time(self, build: Build, case: TestCase, timeout: float) -> Timing:
        """Seconds of the emulation, which say nothing about a GPU."""
        if build.path is None:
            return Timing(build.status, (), "", build.log)
        _, settings = self._settings(build.path)
        timing, _ = measure(build.path, case, settings, timeout)
        return replace(timing, protocol=f"emulation, not a speed: {timing.protocol}")

    def _settings(self, program: Path) -> tuple[_Facts, Settings]:
        facts = _Facts.from_json((program.parent / "facts").read_text())
        spec = self.spec
        opt_in = self.language.opt_in_shared_bytes(spec)
        per_launch = (spec.max_threads_per_block, *spec.max_block, *spec.max_grid)
        limits = (*per_launch, spec.shared_bytes, opt_in, spec.warp_size, spec.cores, self.language.capability(spec))
        workers = self.workers or min(16, len(os.sched_getaffinity(0)))
        spaces = dict.fromkeys(facts.device_pointers, Space.GLOBAL)
        return facts, Settings(limits, workers, facts.is_kernel, spaces)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a run must know of the text. ``alignment`` of buffers in bytes; ``threads_meet``: there are barriers, warp operations, shared
    memory or atomics; ``is_kernel``: the entry is a bare kernel."""

    alignment: int
    has_atomics: bool
    threads_meet: bool
    is_kernel: bool
    device_pointers: tuple[str, ...]

    @classmethod
    def of(cls, program: Program) -> _Facts:
        text = "\n".join([program.text, *program.headers.values(), *program.defines.values()])
        element = min((p.dtype.bytes for p in program.params if p.is_buffer), default=1)
        return cls(
            # vector accesses need their alignment; without them the end of a buffer is exact
            alignment=16 if _VECTOR_TYPE.search(text) else element,
            has_atomics=_ATOMIC.search(text) is not None,
            threads_meet=_MEETING.search(text) is not None,
            is_kernel=program.launch is not None,
            device_pointers=tuple(p.sym.name for p in program.params if p.is_buffer and p.space is Space.GLOBAL),
        )

    @classmethod
    def from_json(cls, text: str) -> _Facts:
        data = json.loads(text)
        return cls(**{**data, "device_pointers": tuple(data["device_pointers"])})

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def runtime_objects() -> tuple[Path, ...]:
    """The prebuilt objects of the emulator: scheduler and host API."""
    headers = (*RUNTIME_HEADERS, EMULATOR / "fiber.h", *(INCLUDE / "xp" / name for name in ("types.h", "simt.h", "host_runtime.h")))
    sources = (EMULATOR / "simt.cpp", EMULATOR / "host.cpp")
    return tuple(shared_object(source.stem, (source, *headers), (*RUNTIME_FLAGS, "-I", str(RUNTIME)), COMPILER) for source in sources)


def _launch_text(program: Program, entry: str) -> str:
    if program.launch is None:
        return ""
    shape = program.launch
    grid, block = (f"dim3({', '.join(map(str, extent))})" for extent in (shape.grid, shape.block))
    call = f"[&](auto... xp_a) {{ ::{entry}(xp_a...); }}"
    comma = ", " if program.params else ""
    return f'::xp::configure("{program.entry}", 0, {grid}, {block}, {shape.dynamic_shared_bytes}).run({call}{comma}{{arguments}})'


def _judge(runs: list[tuple[int, Run]], has_atomics: bool) -> Run:
    """One result out of the runs of a case in several orders: the first one, unless another order fails or differs."""
    first_order, first = runs[0]
    total = sum(run.seconds for _, run in runs)
    if first.status is not Status.OK:
        return first
    for order, run in runs[1:]:
        if run.status is Status.TIMEOUT:
            return replace(run, log=f"with threads {ORDER_NAMES[order]}: {run.log}")
        if run.status is not Status.OK:
            return replace(run, log=f"with threads {ORDER_NAMES[order]} (not {ORDER_NAMES[first_order]}): {run.log}")
        for name, data in first.outputs.items():
            where = _difference(data, run.outputs[name], has_atomics)
            if where is not None:
                here, there = data[where], run.outputs[name][where]
                what = f"buffer '{name}' element {where} is {here} with threads {ORDER_NAMES[first_order]} and {there} {ORDER_NAMES[order]}"
                return Run(Status.RACE, first.outputs, f"the result depends on the order of the threads: {what}", total)
    return first


# Atomic additions of floats may come in any order: a relative difference up to this, against the largest value, is rounding
ATOMIC_TOLERANCE = 1e-3


def _difference(a: Array, b: Array, has_atomics: bool) -> int | None:
    """The first element in which two results differ, or None. Bits count; with float atomics only more than rounding does."""
    if a.tobytes() == b.tobytes():
        return None
    raw_a, raw_b = (x.view(np.uint8).reshape(x.size, -1) if x.size else x for x in (a, b))
    different = np.any(raw_a != raw_b, axis=1)
    if has_atomics and np.issubdtype(a.dtype, np.floating):
        with np.errstate(all="ignore"):
            finite = np.isfinite(a) & np.isfinite(b)
            scale = float(np.max(np.abs(a[finite]), initial=0.0))
            close = finite & (np.abs(a.astype(np.float64) - b.astype(np.float64)) <= ATOMIC_TOLERANCE * scale)
        different &= ~close
    found = np.flatnonzero(different)
    return int(found[0]) if found.size else None
