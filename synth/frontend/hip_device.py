"""Device functions that only HIP has and that are not written down in its header of ours (``include/xpiler/hip_device.h``).

Source: AMD CDNA2 Instruction Set Architecture Reference Guide, V_READFIRSTLANE_B32, DS_SWIZZLE_B32, "Data Parallel Processing (DPP)".
"""

from __future__ import annotations

from synth.frontend import known
from synth.frontend.gpu_device import GpuDevice, across, full_mask, mask_type
from synth.frontend.reader import clang, expressions
from synth.frontend.reader.arithmetic import binary, convert, literal, unary
from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.mathlib import count_ones
from synth.frontend.reader.places import NoValue, Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Cast, Const, Expr, Var

_DEPTH = 8  # operators that are looked through for a value that all lanes share


def read_first_lane(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    """``readfirstlane(v)``: the value of the first lane that takes part; one that all lanes share is itself."""
    value = convert(expressions.read_scalar(reader, arguments[0]), DType.I32)
    if _shared_by_lanes(reader, device, value):
        return value
    value = reader.let("value", value, call)
    mask = reader.let("together", across(reader, call, "warp.ballot", mask_type(device.warp_size), _everyone(device)), call)
    below = binary("and", unary("bnot", mask), binary("sub", mask, literal(1, mask_type(device.warp_size))))
    first = convert(count_ones(reader, below), DType.I32)
    width = literal(device.warp_size, DType.I32)
    return across(reader, call, "warp.shfl", DType.I32, (full_mask(device.warp_size), value, first, width))


def check_swizzle(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    """Refuses the patterns of ``ds_swizzle`` that are neither a permutation of quads nor masks."""
    pattern = int(clang.evaluate(arguments[0]) or 0)
    if pattern & 0x8000 and pattern & 0x7F00:
        raise reader.refuse(f"ds_swizzle with pattern {pattern:#x} is not supported", call, "use __shfl")
    return NoValue()


_DPP_ANYWHERE = (range(0x100), range(0x101, 0x110), range(0x111, 0x120), range(0x121, 0x130), (0x140, 0x141))
_DPP_WIDE = (0x130, 0x134, 0x138, 0x13C, 0x142, 0x143)  # shifts over a wavefront and broadcasts of rows: of 64 lanes only


def check_dpp(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    """Refuses the controls of data parallel primitives that the header gives no meaning on this device."""
    control = int(clang.evaluate(arguments[0]) or 0)
    if not any(control in known_ for known_ in _DPP_ANYWHERE) and not (control in _DPP_WIDE and device.warp_size == 64):
        raise reader.refuse(f"DPP control {control:#x} is not supported on {device.spec.name}", call, "use __shfl")
    return NoValue()


def check_mfma(device: GpuDevice, reader: Reader, call: Cursor, arguments: list[Cursor]) -> Value:
    """Refuses what matrix instructions do beyond the product (cbsz, abid, blgp), and devices whose wavefronts are too narrow."""
    if clang.evaluate(arguments[0]) != 0:
        raise reader.refuse("an MFMA with cbsz, abid or blgp", call, "pass 0 for all three")
    if device.warp_size != 64:
        raise reader.refuse(f"an MFMA on {device.spec.name}, which has no such instructions", call, "name a CDNA device")
    return NoValue()


def _everyone(device: GpuDevice) -> tuple[Expr, Expr]:
    return full_mask(device.warp_size), literal(True, DType.BOOL)


def _shared_by_lanes(reader: Reader, device: GpuDevice, value: Expr) -> bool:
    """Whether a value is one of the block and of the number of the warp: made of literals, block indexes, sizes of the launch and quotients
    of the thread's index by a multiple of the warp, in a launch whose warps lie along x."""
    launch = device.launch
    width = launch.block_dim[0] if launch is not None else None
    if launch is None or not isinstance(width, Const) or int(width.value) % device.warp_size:
        return False
    x, *others = launch.thread
    shared = {e.sym for e in (*launch.block, *launch.block_dim, *launch.grid_dim, *others) if isinstance(e, Var)}

    def same(e: Expr, depth: int) -> bool:
        e = _value(reader, e)
        match e:
            case Const():
                return True
            case Var():
                return e.sym in shared
            case Binary(op="div" | "shr" as op, a=a, b=Const(value=int() as n)) if _is_index(reader, a, x):
                divisor = n if op == "div" else 1 << n
                return divisor > 0 and divisor % device.warp_size == 0
            case Binary():
                return depth > 0 and same(e.a, depth - 1) and same(e.b, depth - 1)
            case Cast():
                return depth > 0 and same(e.a, depth - 1)
            case _:
                return False

    return same(value, _DEPTH)


def _value(reader: Reader, e: Expr) -> Expr:
    """What a name stands for."""
    e = known.resolved(reader, e)
    while isinstance(e, Var) and e.sym in reader.values:
        e = known.resolved(reader, reader.values[e.sym])
    return e


def _is_index(reader: Reader, e: Expr, x: Expr) -> bool:
    """Whether ``e`` is the thread's index along x: it is below 2^31, so that no conversion to 32 bits or more changes it."""
    e = _value(reader, e)
    while isinstance(e, Cast) and isinstance(e.type, DType) and e.type.is_int and e.type.bits >= 32:
        e = _value(reader, e.a)
    return e == x
