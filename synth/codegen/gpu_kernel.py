"""Kernels of CUDA and HIP: one ``__global__`` function for each launch.

The six loops of a launch become the builtin indexes; what the body reads from outside are the kernel's parameters: buffers of the device,
and scalars by value. Arrays of a literal size in shared memory are static; those of another size, or all of them where they do not fit,
are parts of the dynamic shared memory that the launch asks for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from synth.codegen.base import element_bytes
from synth.codegen.expressions import PRECEDENCE
from synth.codegen.gpu_values import HALVES, GpuValues, mask_constant
from synth.codegen.names import identifiers
from synth.errors import UnsupportedError
from synth.ir.builder import int_value, is_const
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Bitcast,
    Body,
    Call,
    Cast,
    Const,
    Expr,
    For,
    Launch,
    Load,
    Module,
    Param,
    Region,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
)
from synth.ir.traversal import all_exprs, bound_symbols, read_buffers, stmt_exprs, used_values, walk, walk_expr, written_buffers

LOCAL_LIMIT = 512 * 1024  # bytes of local memory a thread (CUDA C++ Programming Guide, "Technical Specifications")
VECTOR_ALIGNMENT = 16
DYNAMIC = "dynamic_shared"
_OF_HOST = (Space.HOST, Space.LOCAL)

# Identifiers that device code has already.
RESERVED = frozenset(
    """threadIdx blockIdx blockDim gridDim warpSize dim3 half half2 min max abs assert printf clock clock64 status error __half rsqrtf rsqrt
    dynamic_shared __global__ __device__ __host__ __shared__ __constant__ fminf fmaxf fmin fmax fabsf fabs""".split()
) | {
    f"{stem}{n}"
    for stem in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "float", "double")
    for n in "1234"
}
_ATOMICS = {
    "add": "atomicAdd",
    "sub": "atomicSub",
    "min": "atomicMin",
    "max": "atomicMax",
    "exch": "atomicExch",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
    "inc": "atomicInc",
    "dec": "atomicDec",
    "cas": "atomicCAS",
}
_BUILTINS = {
    Axis.BLOCK_X: "blockIdx.x",
    Axis.BLOCK_Y: "blockIdx.y",
    Axis.BLOCK_Z: "blockIdx.z",
    Axis.THREAD_X: "threadIdx.x",
    Axis.THREAD_Y: "threadIdx.y",
    Axis.THREAD_Z: "threadIdx.z",
}
_EXTENTS = {
    axis: text.replace("Idx", "Dim").replace("blockDim", "gridDim").replace("threadDim", "blockDim") for axis, text in _BUILTINS.items()
}
_SHUFFLED = {DType.BOOL: DType.I32, DType.I8: DType.I32, DType.U8: DType.I32, DType.I16: DType.I32, DType.U16: DType.I32}


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a launch: the loops by axis, the shared arrays between them, and what a thread does."""

    loops: dict[Axis, For]
    shared: tuple[Alloc, ...]
    body: Body

    @classmethod
    def of(cls, launch: Launch) -> Shape:
        """Raises UnsupportedError for a launch of another form."""
        loops: dict[Axis, For] = {}
        shared: list[Alloc] = []
        body = launch.body
        while True:
            inner = [s for s in body if not isinstance(s, Alloc)]
            arrays = [s for s in body if isinstance(s, Alloc)]
            if len(loops) == len(_BUILTINS):
                return cls(loops, tuple(shared), body)
            if len(inner) != 1 or not isinstance(inner[0], For) or inner[0].axis not in _BUILTINS or inner[0].axis in loops:
                raise UnsupportedError(f"launch of '{launch.kernel}' is not a nest of its block and thread loops", launch.loc)
            if any(a.space is not Space.SHARED or a.init is not None for a in arrays):
                raise UnsupportedError(f"launch of '{launch.kernel}' has more than shared arrays between its loops", launch.loc)
            shared += arrays
            loop = inner[0]
            if not (is_const(loop.lo, 0) and is_const(loop.step, 1)):
                raise UnsupportedError(f"loop '{loop.sym.name}' of a launch does not count from 0 by 1", loop.loc)
            loops[inner[0].axis] = loop
            body = loop.body

    def extents(self, kind: str) -> tuple[Expr, Expr, Expr]:
        """The sizes of the grid (``block``) or of a block (``thread``), x first."""
        x, y, z = (self.loops[axis].hi for axis in _BUILTINS if axis.value.startswith(kind))
        return x, y, z

    @property
    def threads(self) -> int | None:
        """Threads of a block, when that is a literal."""
        sizes = [int_value(e) for e in self.extents("thread")]
        known = [s for s in sizes if s is not None]
        return math.prod(known) if len(known) == len(sizes) else None


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Shared arrays in dynamic shared memory: each with the number of bytes before it, and the bytes of all, as products of expressions of
    the host."""

    arrays: tuple[Alloc, ...]

    def bytes_of(self, array: Alloc) -> Expr:
        total: Expr = Const(element_bytes(array.dtype), DType.U64)
        for extent in array.shape:
            total = _folded("mul", total, Cast(extent, DType.U64))
        if len(self.arrays) == 1:
            return total
        unit = Const(VECTOR_ALIGNMENT, DType.U64)
        padded = _folded("add", total, Const(VECTOR_ALIGNMENT - 1, DType.U64))
        return _folded("mul", _folded("div", padded, unit), unit)

    def before(self, array: Alloc) -> Expr:
        total: Expr = Const(0, DType.U64)
        for other in self.arrays[: self.arrays.index(array)]:
            total = _folded("add", total, self.bytes_of(other))
        return total

    @property
    def total(self) -> Expr:
        total: Expr = Const(0, DType.U64)
        for array in self.arrays:
            total = _folded("add", total, self.bytes_of(array))
        return total


def _folded(op: str, a: Expr, b: Expr) -> Expr:
    x, y = (int_value(e.a) if isinstance(e, Cast) else int_value(e) for e in (a, b))
    if x is not None and y is not None:
        return Const({"add": x + y, "mul": x * y, "div": x // max(y, 1)}[op], DType.U64)
    return b if op == "add" and x == 0 else Binary(op, a, b)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a kernel takes: buffers of the device in the order of their use, and scalars by value in that of their binding. ``loads`` are
    mutable scalars of the host."""

    buffers: tuple[Sym, ...]
    values: tuple[tuple[Sym, Type], ...]
    loads: tuple[tuple[Sym, Type], ...]


@dataclass(slots=True)
class KernelEmitter(GpuValues):
    """Prints one kernel. ``types`` are the element types of buffers outside, ``own`` those that the entry allocated (they do not alias),
    ``scalars`` those of rank 0."""

    shared_limit: int = field(kw_only=True)
    types: dict[Sym, Type] = field(default_factory=dict)
    own: frozenset[Sym] = frozenset()
    scalars: frozenset[Sym] = frozenset()
    dynamic: Dynamic = Dynamic(())

    # ------------------------------------------------------------------------------------------------- the function

    def kernel(self, name: str, launch: Launch, given: Parameters) -> list[str]:
        """The text of the kernel ``name`` of a launch."""
        shape = Shape.of(launch)
        self.on_device = True
        self.written = written_buffers(launch.body)
        self.dynamic = dynamic_arrays(shape, self.shared_limit)
        self.element_types = {sym: self.type_name(type_) for sym, type_ in self.types.items()}
        bounds = f"__launch_bounds__({shape.threads}) " if shape.threads is not None else ""
        self.line(f"__global__ void {bounds}{name}({', '.join(self.parameters(given))}) {{")
        self.indent += 1
        for axis, loop in shape.loops.items():
            if loop.dtype is not DType.U32 and loop.sym in used_values(launch.body):
                self.line(f"const {self.type_name(loop.dtype)} {self.names[loop.sym]} = {_BUILTINS[axis]};")
        self.shared_arrays(shape)
        self.body(shape.body)
        self.indent -= 1
        self.line("}")
        return self.lines

    def parameters(self, given: Parameters) -> list[str]:
        restrict = "__restrict__ " if len(given.buffers) > 1 else ""
        texts = []
        for sym in given.buffers:
            const = "" if sym in self.written else "const "
            own = restrict if sym in self.own else ""
            texts.append(f"{const}{self.type_name(self.types[sym])} *{own}{self.names[sym]}")
        return [*texts, *(f"{self.type_name(type_)} {self.names[sym]}" for sym, type_ in (*given.values, *given.loads))]

    # ----------------------------------------------------------------------------------------------------- memory

    def shared_arrays(self, shape: Shape) -> None:
        if self.dynamic.arrays:
            self.line(f"extern __shared__ __align__({VECTOR_ALIGNMENT}) unsigned char {DYNAMIC}[];")
        for array in shape.shared:
            self.element_types[array.sym] = self.type_name(array.dtype)
            if array in self.dynamic.arrays:
                self.part_of_dynamic(array)
            else:
                dims = "".join(f"[{self.expr(extent)}]" for extent in array.shape)
                self.line(f"__shared__ {self.alignment(array)}{self.type_name(array.dtype)} {self.names[array.sym]}{dims};")

    def part_of_dynamic(self, array: Alloc) -> None:
        inner = array.shape[1:]
        if any(int_value(extent) is None for extent in inner):
            raise UnsupportedError(f"shared array '{array.sym.name}' has an inner size that is not constant", array.loc)
        dims = "".join(f"[{self.expr(extent)}]" for extent in inner)
        before = self.dynamic.before(array)
        start = DYNAMIC if is_const(before, 0) else f"{DYNAMIC} + {self.expr(before, PRECEDENCE['add'])}"
        c, name = self.type_name(array.dtype), self.names[array.sym]
        if not array.shape:
            self.line(f"{c} &{name} = *reinterpret_cast<{c} *>({start});")
        elif dims:
            self.line(f"{c} (*const {name}){dims} = reinterpret_cast<{c} (*){dims}>({start});")
        else:
            self.line(f"{c} *const {name} = reinterpret_cast<{c} *>({start});")

    def alignment(self, array: Alloc) -> str:
        return f"__align__({VECTOR_ALIGNMENT}) " if array.shape and array.sym in self.aligned else ""

    def alloc(self, s: Alloc, following: Stmt | None) -> bool:
        if s.space is not Space.LOCAL:
            raise UnsupportedError(f"a thread allocates '{s.sym.name}' in {s.space.value} memory", s.loc)
        if not s.shape:
            if isinstance(following, Call) and self.becomes_initialiser(s, following):
                text = self.cross_thread(following)
                self.line(f"{self.type_name(s.dtype)} {self.names[s.sym]} = {text};")
                return True
            return GpuValues.alloc(self, s, following)
        sizes = [int_value(extent) for extent in s.shape]
        known = [size for size in sizes if size is not None]
        if len(known) != len(sizes):
            raise UnsupportedError(f"array '{s.sym.name}' of a thread has a size that is not constant", s.loc, "use a constant size")
        if math.prod(known) * element_bytes(s.dtype) > LOCAL_LIMIT:
            raise UnsupportedError(f"array '{s.sym.name}' of a thread is larger than {LOCAL_LIMIT} bytes", s.loc)
        c, dims = self.type_name(s.dtype), "".join(f"[{n}]" for n in known)
        const = "const " if s.init is not None and s.sym not in self.written else ""
        initial = f" = {self.initialiser(s.init, known)}" if s.init is not None else ""
        self.line(f"{const}{self.alignment(s)}{c} {self.names[s.sym]}{dims}{initial};")
        return False

    def becomes_initialiser(self, s: Alloc, call: Call) -> bool:
        if not call.op.startswith("warp.") or not call.dests or call.dests[0] != Region(s.sym, ()):
            return False
        return not any(isinstance(e, Load) and e.buf == s.sym for a in call.args if not isinstance(a, Region) for e in walk_expr(a))

    def element(self, buf: Sym, index: tuple[Expr, ...]) -> str:
        text = GpuValues.element(self, buf, index)
        return f"(*{text})" if buf in self.scalars else text

    # ------------------------------------------------------------------------------------------------- statements

    def stmt(self, s: Stmt) -> None:
        match s:
            case Sync(Scope.BLOCK):
                self.line("__syncthreads();")
            case Sync(Scope.WARP):
                for text in self.dialect.warp_sync:
                    self.line(text)
            case _:
                GpuValues.stmt(self, s)

    def return_text(self) -> str:
        return "return;"

    def call(self, s: Call) -> None:
        if s.op == "warp.sync":
            for text in self.dialect.masked_sync:
                self.line(text.format(mask=self.expr(s.args[0]) if not isinstance(s.args[0], Region) else ""))
        elif s.op.startswith("warp."):
            (target,) = s.dests
            self.line(f"{self.element(target.buf, target.index)} = {self.cross_thread(s)};")
        elif s.op.startswith("atomic."):
            self.atomic(s)
        else:
            raise UnsupportedError(f"operation {s.op} cannot be printed for {self.dialect.title}", s.loc)

    def cross_thread(self, s: Call) -> str:
        """The value of a warp operation, of the type of its destination."""
        args = [a for a in s.args if not isinstance(a, Region)]
        if s.op == "warp.activemask":
            return f"{self.lane_mask()}__activemask()"
        mask, *rest = args
        if s.op.startswith("warp.shfl"):
            return self.shuffle(s.op.removeprefix("warp."), mask, *rest)
        return self.vote(s.op.removeprefix("warp."), mask, rest[0])

    def shuffle(self, op: str, mask: Expr, value: Expr, lane: Expr, width: Expr) -> str:
        if isinstance(value.type, Vec):
            raise UnsupportedError("a shuffle of a vector cannot be printed")
        if value.type in HALVES and not self.dialect.moves_halves:
            bits = self.shuffle(op, mask, Bitcast(value, DType.U16), lane, width)
            return f"{self.bitcast_helper(DType.U16, value.type)}({bits})"
        narrow = _SHUFFLED.get(value.type)
        moved = value if narrow is None else Cast(value, narrow)
        parts = [self.expr(moved), self.expr(lane)]
        if not is_const(width, self.module.warp_size):
            parts.append(self.expr(width))
        text = self.dialect.shuffle.format(op=op, mask=mask_constant(mask) or self.expr(mask), args=", ".join(parts))
        return f"({self.type_name(value.type)}){text}" if narrow is not None else text

    def vote(self, op: str, mask: Expr, predicate: Expr) -> str:
        bits = mask_constant(mask) or self.expr(mask, PRECEDENCE["and"] + 1)
        if self.dialect.has_masks:
            text = f"__{op}_sync({mask_constant(mask) or self.expr(mask)}, {self.expr(predicate)})"
            return text if op == "ballot" else f"{text} != 0"
        full = int_value(mask) == (1 << self.module.warp_size) - 1
        if op == "all":
            nobody = f"__ballot({self.expr(Unary('lnot', predicate))})"
            return f"{nobody} == 0" if full else f"({nobody} & {bits}) == 0"
        ballot = f"__ballot({self.expr(predicate)})"
        chosen = ballot if full else f"({ballot} & {bits})"
        return f"{self.lane_mask()}{chosen}" if op == "ballot" else f"{chosen} != 0"

    def lane_mask(self) -> str:
        """A conversion of the dialect's masks of lanes to those of the program."""
        return "" if self.dialect.has_masks else f"({self.type_name(DType.U64 if self.module.warp_size > 32 else DType.U32)})"

    def atomic(self, s: Call) -> None:
        op = s.op.removeprefix("atomic.")
        if op not in _ATOMICS:
            raise UnsupportedError(f"operation {s.op} cannot be printed for {self.dialect.title}", s.loc)
        target, *old = s.dests
        args = [a for a in s.args if not isinstance(a, Region)]
        place, type_ = self.element(target.buf, target.index), args[0].type
        address, values = f"&{place}", [self.expr(a) for a in args]
        held = self.element_types.get(target.buf)
        if type_ not in (DType.I64, DType.U64) and held is not None and held != self.type_name(type_):
            address = f"reinterpret_cast<{self.type_name(type_)} *>({address})"
        if type_ in (DType.I64, DType.U64):
            wide = "long long" if type_ is DType.I64 and op in ("min", "max") else "unsigned long long"
            address, values = f"reinterpret_cast<{wide} *>({address})", [f"({wide})({v})" for v in values]
        text = f"{_ATOMICS[op]}({address}, {', '.join(values)})"
        if old:
            cast = f"({self.type_name(type_)})" if type_ in (DType.I64, DType.U64) else ""
            self.line(f"{self.element(old[0].buf, old[0].index)} = {cast}{text};")
        else:
            self.line(f"{text};")


# ------------------------------------------------------------------------------------------------------- launches


def dynamic_arrays(shape: Shape, limit: int) -> Dynamic:
    """The shared arrays that are not static: those without a literal size, and all where the static ones would not fit."""
    static = [a for a in shape.shared if all(int_value(e) is not None for e in a.shape)]
    total = sum(element_bytes(a.dtype) * math.prod(int_value(e) or 0 for e in a.shape) for a in static)
    return Dynamic(tuple(a for a in shape.shared if total > limit or a not in static))


def parameters_of(launch: Launch, spaces: Mapping[Sym, Space], order: Mapping[Sym, int]) -> Parameters:
    """What a launch reads from outside. Raises UnsupportedError for memory of the host."""
    shape = Shape.of(launch)
    inside = set(bound_symbols(launch.body))
    written = written_buffers(shape.body)
    values: dict[Sym, Type] = {}
    loads: dict[Sym, Type] = {}
    dynamic = (e for a in dynamic_arrays(shape, 1 << 62).arrays for x in a.shape for e in walk_expr(x))
    for e in (*all_exprs(shape.body), *dynamic):
        if isinstance(e, Var) and e.sym not in inside:
            values[e.sym] = e.type
        elif isinstance(e, Load) and not e.index and e.buf not in inside | written and spaces[e.buf] in _OF_HOST:
            loads[e.buf] = e.type
    outside = (read_buffers(shape.body) | written) - inside - loads.keys()
    buffers = [sym for sym in _by_appearance(shape.body) if sym in outside]
    for sym in buffers:
        if spaces[sym] in _OF_HOST:
            raise UnsupportedError(
                f"kernel '{launch.kernel}' uses '{sym.name}', which is memory of the host", launch.loc, "copy it to the device first"
            )
    device = tuple(s for s in buffers if spaces[s] is not Space.CONST)
    return Parameters(device, tuple(sorted(values.items(), key=lambda item: order[item[0]])), tuple(loads.items()))


def _by_appearance(body: Body) -> dict[Sym, None]:
    """The buffers of a body in the order of their first access: the same for copies of a kernel, whatever they are given."""
    found: dict[Sym, None] = {}
    for s in walk(body):
        for whole in stmt_exprs(s):
            found |= {e.buf: None for e in walk_expr(whole) if isinstance(e, Load)}
        if isinstance(s, Store):
            found[s.buf] = None
        elif isinstance(s, Call):
            found |= {r.buf: None for r in (*s.dests, *s.args) if isinstance(r, Region)}
    return found


def kernel_names(launch: Launch, given: Parameters, module: Module, fixed: Mapping[Sym, str]) -> dict[Sym, str]:
    """Identifiers within one kernel. Loops over blocks and threads are the builtin indexes, and the sizes that they run to the builtin
    dimensions."""
    outside = tuple(Param(s, DType.I32) for s in (*given.buffers, *(s for s, _ in (*given.values, *given.loads))))
    reserved = RESERVED | frozenset(fixed.values()) | {module.name}
    names = identifiers(Module(launch.kernel, outside, launch.body), reserved) | dict(fixed)
    for axis, loop in Shape.of(launch).loops.items():
        if loop.dtype is DType.U32:
            names[loop.sym] = _BUILTINS[axis]
    return names


def anonymous(given: Parameters, names: dict[Sym, str]) -> dict[Sym, str]:
    """``names`` with numbers for the parameters: kernels that differ in what they are given only have the same text."""
    outside = (*given.buffers, *(s for s, _ in (*given.values, *given.loads)))
    return names | {s: f"p{i}" for i, s in enumerate(outside)}


def vector_buffers(body: Body) -> frozenset[Sym]:
    """Buffers that are accessed in vectors."""
    found = {e.buf for e in all_exprs(body) if isinstance(e, Load) and isinstance(e.type, Vec) and e.index}
    return frozenset(found | {s.buf for s in walk(body) if isinstance(s, Store) and isinstance(s.value.type, Vec) and s.index})


def kernel_stem(kernel: str) -> str:
    """A C identifier for the name of a kernel (``k<float>``)."""
    return re.sub(r"\W+", "_", kernel).strip("_") or "kernel"
