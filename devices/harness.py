"""The harness between a device and a built program: the glue that calls the entry, the files that carry cases in and buffers out.

A program is one executable: the user's text, included by a few lines of glue (``glue_text``), linked with the prebuilt main of
``runtime/harness.cpp``. One process takes all cases of a call; each runs in a forked child, so that a crash loses that case only.
The layout of the two files is fixed by ``_input_bytes`` here and by the structs at the top of ``harness.cpp``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from devices.device import Program, Run, Timing
from devices.sandbox import Completed, Ending, Limits, run_command, workspace
from devices.status import Status
from synth.evidence.cases import NUMPY_DTYPES, Array, BufferArg, ScalarArg, TestCase
from synth.ir.dtypes import DType
from synth.ir.grammar import Param, Role, Space

RUNTIME = Path(__file__).parent / "runtime"
RUNTIME_HEADERS = (RUNTIME / "xp_memory.h", RUNTIME / "record.h")
TIMING_PROTOCOL = (
    "wall clock in the harness process around the call, warm cache; at least 2 warm-up calls, more until two in a row differ by less "
    "than 10% (at most 20); then at least 5 samples and 50 ms in total, at most 1000 samples; calls under 10 us in batches; in-out buffers "
    "restored before each sample outside the clock; the median counts"
)

C_TYPES: dict[DType, str] = {
    DType.BOOL: "bool",
    DType.I8: "signed char",
    DType.U8: "unsigned char",
    DType.I16: "short",
    DType.U16: "unsigned short",
    DType.I32: "int",
    DType.U32: "unsigned int",
    DType.I64: "long",
    DType.U64: "unsigned long",
    DType.F16: "_Float16",
    DType.F32: "float",
    DType.F64: "double",
}

Bytes = NDArray[np.uint8]

_MAGIC = 0x31504958
_HEADER_WORDS, _CASE_WORDS, _ARGUMENT_WORDS, _RECORD_BYTES = 20, 8, 8, 16384
_STATES = {0: "not_started", 1: "running", 2: "done", 3: "failed"}
_STATUSES = (Status.OK, Status.CRASH, Status.OUT_OF_BOUNDS, Status.RACE, Status.LIMIT_EXCEEDED, Status.UNSUPPORTED)
_KIND = {Space.HOST: 0, Space.GLOBAL: 1}


@dataclass(frozen=True, slots=True)
class Plan:
    """How one case is run: order of threads (0 forward, 1 backward, 2 shuffled), buffers at the end (0) or start (1) of their mapping, the
    byte that poisons outputs, and the alignment of buffers in bytes."""

    order: int = 0
    placement: int = 0
    poison: int = 0xFF
    alignment: int = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """What all cases of a run share: device limits (see ``xp::Options``), OS threads for blocks, and where pointers live."""

    limits: tuple[int, ...] = ()
    workers: int = 1
    device_memory: bool = False  # every pointer is a device pointer (a bare kernel)
    spaces: dict[str, Space] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def glue_text(program: Program, include_name: str, entry: str, launch: str = "") -> str:
    """The lines that include the user's text and call its entry with the arguments in order. ``launch`` is the call of a bare kernel, with
    ``{arguments}`` in it; empty for a host function."""
    arguments = ", ".join(_argument(i, p) for i, p in enumerate(program.params))
    call = launch.replace("{arguments}", arguments) if launch else f"::{entry}({arguments})"
    return "\n".join(
        [
            "namespace xp_glue {",
            "struct Pointer {",
            "  void* at;",
            "  template <class T> operator T*() const { return static_cast<T*>(at); }",
            "};",
            # 64 bits that may be a handle (a stream), which is a pointer
            "struct Word {",
            "  unsigned long bits;",
            "  operator unsigned long() const { return bits; }",
            "  template <class T> operator T*() const { return reinterpret_cast<T*>(bits); }",
            "};",
            "}",
            # The user's macros come after every header of ours: they may have any name.
            *(f"#define {name} {value}" for name, value in program.defines.items()),
            "#define main xp_source_main",
            f'#include "{include_name}"',
            "#undef main",
            f'extern "C" void xp_entry([[maybe_unused]] void** xp_arguments) {{ {call}; }}',
            "",
        ]
    )


def _argument(index: int, param: Param) -> str:
    if param.is_buffer:
        return f"xp_glue::Pointer{{xp_arguments[{index}]}}"
    ctype = C_TYPES.get(param.dtype)
    if ctype is None:
        raise ValueError(f"a scalar parameter of type {param.dtype} cannot be passed")
    value = f"*static_cast<{ctype}*>(xp_arguments[{index}])"
    return f"xp_glue::Word{{{value}}}" if param.dtype is DType.U64 else value


def case_problem(params: Sequence[Param], case: TestCase) -> str | None:
    """Why ``case`` does not fit the entry's parameters, or None."""
    if len(params) != len(case.args):
        return f"the entry has {len(params)} parameters, the case has {len(case.args)} arguments"
    for param, argument in zip(params, case.args, strict=True):
        if param.is_buffer != isinstance(argument, BufferArg):
            return f"argument '{argument.name}' of the case is {'a scalar' if param.is_buffer else 'a buffer'}, which the parameter is not"
        if param.dtype is not argument.dtype:
            return f"argument '{argument.name}' has type {argument.dtype}, the parameter {param.dtype}"
        if isinstance(argument, BufferArg) and argument.data is not None and argument.data.size != argument.count:
            return f"argument '{argument.name}' has {argument.data.size} elements of data for {argument.count}"
    return None


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the results of one planned case lie in the output file."""

    record: int
    buffers: tuple[tuple[str, DType, int, int], ...]  # name, dtype, count, offset


class _Writer:
    """Collects the input file: a table of words, then blobs."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.blobs: list[bytes] = []
        self.size = 0

    def blob(self, data: bytes) -> int:
        """Adds data, 64-byte aligned; its offset counts from the end of the table."""
        offset = self.size
        self.blobs.append(data)
        self.size += _aligned(len(data))
        return offset


def _aligned(value: int, to: int = 64) -> int:
    return (value + to - 1) // to * to


def _write_input(
    path: Path, cases: Sequence[TestCase], planned: Sequence[tuple[int, Plan]], settings: Settings, seconds: float
) -> tuple[list[_Layout], int]:
    """Writes the input file; returns where results will lie and the size of the output file."""
    arguments = [len(cases[index].args) for index, _ in planned]
    table_words = _HEADER_WORDS + _CASE_WORDS * len(planned) + _ARGUMENT_WORDS * sum(arguments)
    base = _aligned(table_words * 8)
    writer = _Writer()
    limits = (*settings.limits, *(0,) * (12 - len(settings.limits)))
    header = [_MAGIC, len(planned), _HEADER_WORDS * 8, settings.workers, *limits, 50_000_000, int(seconds * 1e9), 2, 1000]
    case_words: list[int] = []
    argument_words: list[int] = []
    layouts: list[_Layout] = []
    out = 0
    stored: dict[tuple[int, int], int] = {}  # data and names are written once for all plans of a case
    for index, plan in planned:
        case = cases[index]
        first_argument = (_HEADER_WORDS + _CASE_WORDS * len(planned) + len(argument_words)) * 8
        record, out = out, out + _RECORD_BYTES
        case_words += [
            plan.order,
            case.seed & (2**63 - 1),
            plan.placement,
            plan.poison,
            plan.alignment,
            len(case.args),
            first_argument,
            record,
        ]
        buffers: list[tuple[str, DType, int, int]] = []
        for position, argument in enumerate(case.args):
            place = (index, position)
            if isinstance(argument, ScalarArg):
                if place not in stored:
                    stored[place] = base + writer.blob(_scalar_bytes(argument))
                argument_words += [0, argument.dtype.bytes, 0, stored[place], 1, 0, 0, argument.dtype.bytes]
                continue
            size = argument.count * argument.dtype.bytes
            if place not in stored:
                stored[place] = base + writer.blob(argument.name.encode()[:63] + b"\0")
                if argument.data is not None:
                    flat = np.ascontiguousarray(argument.data, dtype=NUMPY_DTYPES[argument.dtype]).reshape(-1)
                    stored[index, -1 - position] = base + writer.blob(flat.tobytes())
            name_offset = stored[place]
            kind = 1 if settings.device_memory else _KIND.get(settings.spaces.get(argument.name, Space.HOST), 0)
            # 2: data that a call may change, to be restored between timed calls
            has_data = 0 if argument.data is None else 1 if argument.role is Role.IN else 2
            argument_words += [1, size, kind, stored.get((index, -1 - position), 0), has_data, out, name_offset, argument.dtype.bytes]
            buffers.append((argument.name, argument.dtype, argument.count, out))
            out = _aligned(out + size)
        out = _aligned(out, 4096)
        layouts.append(_Layout(record, tuple(buffers)))
    with path.open("wb") as handle:
        handle.write(struct.pack(f"<{table_words}Q", *header, *case_words, *argument_words).ljust(base, b"\0"))
        for blob in writer.blobs:
            handle.write(blob)
            handle.write(b"\0" * (-len(blob) % 64))
    return layouts, max(out, 4096)


def _scalar_bytes(argument: ScalarArg) -> bytes:
    if argument.dtype.is_float:
        return bytes(np.asarray(argument.value, dtype=NUMPY_DTYPES[argument.dtype]).tobytes())
    if argument.dtype is DType.BOOL:
        return bytes([bool(argument.value)])
    return (int(argument.value) & ((1 << argument.dtype.bits) - 1)).to_bytes(argument.dtype.bytes, "little")


def _message(raw: bytes, completed: Completed) -> str:
    text = raw.split(b"\0", 1)[0].decode("utf-8", "replace")
    said = (completed.stderr or completed.stdout).strip()
    return f"{text}\n{said[-2000:]}" if said and text else text or said[-2000:]


def _read_run(memory: Bytes, layout: _Layout, completed: Completed, timeout: float) -> Run:
    state, status, _claimed, _samples = struct.unpack_from("<4Q", memory.data, layout.record)
    (seconds,) = struct.unpack_from("<d", memory.data, layout.record + 32)
    log = _message(memory[layout.record + 40 : layout.record + 2048].tobytes(), completed)
    match _STATES.get(state):
        case "done":
            outputs = {name: _array(memory, dtype, count, offset) for name, dtype, count, offset in layout.buffers}
            return Run(Status.OK, outputs, log if completed.ending is not Ending.EXITED else "", seconds)
        case "failed":
            return Run(_STATUSES[status] if 0 < status < len(_STATUSES) else Status.CRASH, {}, log, seconds)
        case name:
            if completed.ending is Ending.TIMEOUT:
                what = "did not finish" if name == "running" else "was not reached"
                return Run(Status.TIMEOUT, {}, f"the case {what} within {timeout:g} s", timeout)
            return Run(Status.CRASH, {}, f"the harness ended with {completed.ending.value} {completed.code}\n{log}".strip(), seconds)


def _array(memory: Bytes, dtype: DType, count: int, offset: int) -> Array:
    if dtype is DType.BOOL:
        flags: Array = memory[offset : offset + count] != 0
        return flags
    copied: Array = memory[offset : offset + count * dtype.bytes].copy().view(NUMPY_DTYPES[dtype])
    return copied


def execute(
    program: Path,
    cases: Sequence[TestCase],
    planned: Sequence[tuple[int, Plan]],
    settings: Settings,
    timeout: float,
    limits: Limits | None = None,
) -> tuple[Run, ...]:
    """Runs ``program`` on ``planned`` (index of a case, how to run it), all in one sandboxed process, within ``timeout`` seconds."""
    if not planned:
        return ()
    with workspace() as folder:
        layouts, size = _write_input(folder / "input", cases, planned, settings, timeout)
        memory, completed = _launch(program, folder, size, "run", settings, timeout, limits)
        return tuple(_read_run(memory, layout, completed, timeout) for layout in layouts)


def measure(program: Path, case: TestCase, settings: Settings, timeout: float, limits: Limits | None = None) -> tuple[Timing, Run]:
    """Times ``case`` by ``TIMING_PROTOCOL``; the run holds the buffers after the last call, so that they can be checked."""
    with workspace() as folder:
        layouts, size = _write_input(folder / "input", [case], [(0, Plan(placement=1, alignment=4096))], settings, timeout * 0.8)
        memory, completed = _launch(program, folder, size, "time", settings, timeout, limits)
        run = _read_run(memory, layouts[0], completed, timeout)
        if run.status is not Status.OK:
            return Timing(run.status, (), TIMING_PROTOCOL, run.log), run
        count = struct.unpack_from("<Q", memory.data, layouts[0].record + 24)[0]
        samples = struct.unpack_from(f"<{count}d", memory.data, layouts[0].record + 2048)
        return Timing(Status.OK, samples, TIMING_PROTOCOL), run


def _launch(
    program: Path, folder: Path, size: int, mode: str, settings: Settings, timeout: float, limits: Limits | None
) -> tuple[Bytes, Completed]:
    with (folder / "output").open("wb") as handle:
        handle.truncate(size)
    completed = run_command([program, folder / "input", folder / "output", mode], timeout, folder, limits, settings.environment)
    return np.fromfile(folder / "output", dtype=np.uint8), completed
