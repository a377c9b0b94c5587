"""What host code asks about its device: the answers are those of the target that the source is for.

Source: CUDA Runtime API, "Device Management"; HIP Runtime API, "Device Management". A program may size its launches by these numbers, and
its results must not depend on them. A property that a specification does not hold may be printed, and nothing else.
"""

from __future__ import annotations

import re

from synth.frontend.reader import clang, expressions, memory
from synth.frontend.reader.arithmetic import convert, literal
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Place, RecordPlace
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Expr, Load, Sym
from synth.spec import DeviceSpec


def _properties(spec: DeviceSpec) -> dict[str, int]:
    """Fields of the properties' structure, and attributes, by the name that both dialects use for them."""
    return {
        "warpSize": spec.warp_size,
        "maxThreadsPerBlock": spec.max_threads_per_block,
        "sharedMemPerBlock": spec.shared_bytes,
        "multiProcessorCount": spec.cores,
    }


_ATTRIBUTES = {
    "WarpSize": "warpSize",
    "MaxThreadsPerBlock": "maxThreadsPerBlock",
    "MaxSharedMemoryPerBlock": "sharedMemPerBlock",
    "MultiProcessorCount": "multiProcessorCount",
    "MultiprocessorCount": "multiProcessorCount",
}


def read(reader: Reader, spec: DeviceSpec, unknown: dict[Sym, str], api: str, call: Cursor, arguments: list[Cursor]) -> bool:
    """Whether a function of the runtime API (by its name without prefix) is such a question; its answer is then stored. ``unknown`` are
    values that exist only at run time: properties that a specification does not hold are added."""
    match api:
        case "GetDeviceProperties":
            _fill(reader, spec, unknown, _target(reader, arguments[0], call), call)
        case "DeviceGetAttribute":
            name = re.sub(r"^(cudaDevAttr|hipDeviceAttribute)", "", clang.strip(arguments[1]).spelling)
            if name not in _ATTRIBUTES:
                raise reader.refuse(f"device attribute '{name}' is not known", call, "write its value")
            _store(reader, _target(reader, arguments[0], call), _properties(spec)[_ATTRIBUTES[name]], call)
        case "GetDevice":
            _store(reader, _target(reader, arguments[0], call), 0, call)
        case "GetDeviceCount":
            _store(reader, _target(reader, arguments[0], call), 1, call)
        case _:
            return False
    return True


def _target(reader: Reader, argument: Cursor, call: Cursor) -> Place:
    return memory.dereference(reader, expressions.read_value(reader, argument), call)


def _fill(reader: Reader, spec: DeviceSpec, unknown: dict[Sym, str], place: Place, call: Cursor) -> None:
    if not isinstance(place, RecordPlace):
        raise reader.refuse("device properties in this place", call, "use a variable of the structure's type")
    held = _properties(spec)
    for name, field in place.fields.items():
        type_ = getattr(field, "type", None)
        if name in held:
            _store(reader, field, held[name], call)
        elif isinstance(type_, DType):
            sym = Sym(name)
            unknown[sym] = f"the device property '{name}'"
            memory.store(reader, field, Load(sym, (), type_), call)


def _store(reader: Reader, place: Place, value: int, call: Cursor) -> None:
    old = literal(value, DType.I32)
    number: Expr = old
    type_ = getattr(place, "type", None)
    if isinstance(type_, DType):
        number = convert(old, type_)
    memory.store(reader, place, number, call)
