"""Values in CUDA and HIP: scalars with half types, built-in vectors (``float4``), and helpers that run on host and device.

Half types have no arithmetic of their own here: it is done in ``float`` and rounded once, which gives the correctly rounded result
(for +, -, *, / and the square root a format of at least 2p + 2 bits is enough; ``half`` has p = 11, ``bfloat16`` 8, ``float`` 24).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from synth.codegen.expressions import CAST, PRIMARY, ExpressionPrinter
from synth.codegen.gpu_dialect import GpuDialect
from synth.codegen.standins import mask_bits
from synth.codegen.vectors import VectorEmitter
from synth.errors import UnsupportedError
from synth.intrinsics.avx512 import Intrinsic
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import Binary, Bitcast, Broadcast, Cast, Const, Expr, Lane, Load, MakeVec, Math, Reduce, Store, Sym, Unary

HALVES = frozenset({DType.F16, DType.BF16})
_VECTORS = {
    DType.I8: "char",
    DType.U8: "uchar",
    DType.I16: "short",
    DType.U16: "ushort",
    DType.I32: "int",
    DType.U32: "uint",
    DType.I64: "longlong",
    DType.U64: "ulonglong",
    DType.F32: "float",
    DType.F64: "double",
}
_BITS = {  # CUDA Math API, "Type Casting Intrinsics"
    (DType.F32, DType.I32): "__float_as_int",
    (DType.F32, DType.U32): "__float_as_uint",
    (DType.I32, DType.F32): "__int_as_float",
    (DType.U32, DType.F32): "__uint_as_float",
    (DType.F64, DType.I64): "__double_as_longlong",
    (DType.I64, DType.F64): "__longlong_as_double",
}
QUALIFIERS = "static __host__ __device__ inline"


@dataclass(slots=True)
class GpuValues(VectorEmitter):
    """``aligned`` are the buffers whose vector accesses are known to be aligned; ``on_device`` says which code is being printed."""

    dialect: GpuDialect = field(kw_only=True)
    on_device: bool = False
    aligned: frozenset[Sym] = frozenset()
    halves: set[DType] = field(default_factory=set)

    # ------------------------------------------------------------------------------------------------------- types

    def type_name(self, type_: Type) -> str:
        if isinstance(type_, DType):
            if type_ in HALVES:
                self.halves.add(type_)
                return self.dialect.half_types[type_]
            return ExpressionPrinter.type_name(self, type_)
        if type_.dtype is DType.BOOL:
            if type_.lanes > 64:
                raise UnsupportedError(f"masks of {type_.lanes} lanes cannot be printed")
            return f"uint{mask_bits(type_)}_t"
        builtin = self.builtin_vector(type_)
        if builtin is not None:
            return builtin
        name = f"xp_{type_}"
        self.helpers[name] = f"struct {name} {{ {self.type_name(type_.dtype)} lane[{type_.lanes}]; }};"
        return name

    def builtin_vector(self, v: Vec) -> str | None:
        """``float4`` and the like, or None."""
        if v.dtype in HALVES and v.lanes == 2:
            self.halves.add(v.dtype)
            return self.dialect.half_vectors[v.dtype][0]
        stem = _VECTORS.get(v.dtype)
        return f"{stem}{v.lanes}" if stem is not None and 2 <= v.lanes <= 4 else None

    def intrinsic(self, operation: str, type_: Type) -> Intrinsic | None:
        return None

    # ----------------------------------------------------------------------------------------------------- scalars

    def expr_with_precedence(self, e: Expr) -> tuple[str, int]:
        match e:
            case Unary("neg", a) if e.type in HALVES:
                return f"({self.type_name(e.type)})(-{self.expr(Cast(a, DType.F32), PRIMARY)})", CAST
            case Cast() if e.a.type in HALVES and isinstance(e.type, DType) and e.type is not DType.F32:
                through = Cast(e.a, DType.F32)
                return f"({self.type_name(e.type)}){self.expr(through, CAST)}", CAST
            case Cast() if e.type in HALVES and e.a.type is not DType.F32 and e.a.type is not e.type and isinstance(e.a.type, DType):
                return f"({self.type_name(e.type)}){self.expr(Cast(e.a, DType.F32), CAST)}", CAST
            case Bitcast() if isinstance(e.type, DType) and isinstance(e.a.type, DType):
                return self.bits(e, e.a.type, e.type)
        return VectorEmitter.expr_with_precedence(self, e)

    def bits(self, e: Bitcast, source: DType, target: DType) -> tuple[str, int]:
        if source is target:
            return self.expr_with_precedence(e.a)
        if source.is_int and target.is_int:
            return f"({self.type_name(target)}){self.expr(e.a, CAST)}", CAST
        if self.on_device and (source, target) in _BITS:
            text = f"{_BITS[source, target]}({self.expr(e.a)})"
            return (f"(int64_t){text}", CAST) if target is DType.I64 else (text, PRIMARY)
        return f"{self.bitcast_helper(source, target)}({self.expr(e.a)})", PRIMARY

    def binary(self, e: Binary) -> tuple[str, int]:
        if e.a.type not in HALVES:
            return ExpressionPrinter.binary(self, e)
        wide = Binary(e.op, Cast(e.a, DType.F32), Cast(e.b, DType.F32))
        if e.type is DType.BOOL:
            return ExpressionPrinter.binary(self, wide)
        return f"({self.type_name(e.type)}){self.expr(wide, CAST)}", CAST

    def narrowed(self, text: str, type_: Type, level: int) -> tuple[str, int]:
        if type_ in HALVES:
            return f"({self.type_name(type_)})({text})", CAST
        return ExpressionPrinter.narrowed(self, text, type_, level)

    def minimum(self, e: Binary) -> str:
        text = ExpressionPrinter.minimum(self, e)
        return self.qualified(f"{e.op}_{e.type}", text)

    def integer_abs(self, argument: str, dtype: DType) -> str:
        return self.qualified(f"abs_{dtype}", ExpressionPrinter.integer_abs(self, argument, dtype))

    def bitcast_helper(self, source: Type, target: Type) -> str:
        name = ExpressionPrinter.bitcast_helper(self, source, target)
        return self.qualified(name, name)

    def qualified(self, helper: str, text: str) -> str:
        """Makes a helper that was just printed one of host and device."""
        if helper in self.helpers:
            self.helpers[helper] = self.helpers[helper].replace("static inline", QUALIFIERS, 1)
        return text

    def math(self, e: Math) -> tuple[str, int]:
        if e.fn == "rsqrt" and e.type in (DType.F32, DType.F64) and self.on_device:
            return f"{self.math_name('rsqrt', e.type)}({self.expr(e.args[0])})", PRIMARY
        return ExpressionPrinter.math(self, e)

    # ----------------------------------------------------------------------------------------------------- vectors

    def vector_load(self, e: Load) -> tuple[str, int]:
        if e.mask is None and self.is_aligned(e.buf, e.type):
            return f"*reinterpret_cast<const {self.type_name(e.type)} *>(&{self.element(e.buf, e.index)})", CAST
        return VectorEmitter.vector_load(self, e)

    def store(self, s: Store) -> None:
        if s.mask is None and s.index and self.is_aligned(s.buf, s.value.type):
            place = f"*reinterpret_cast<{self.type_name(s.value.type)} *>(&{self.element(s.buf, s.index)})"
            self.line(f"{place} = {self.expr(s.value)};")
            return
        half = s.value.type in HALVES or (isinstance(s.value, Binary) and s.value.a.type in HALVES)
        if half and not isinstance(s.value.type, Vec):  # no compound assignment: it would round in another way
            self.line(f"{self.element(s.buf, s.index)} = {self.expr(s.value)};")
            return
        VectorEmitter.store(self, s)

    def is_aligned(self, buf: Sym, type_: Type) -> bool:
        return isinstance(type_, Vec) and type_.dtype is not DType.BOOL and buf in self.aligned and self.builtin_vector(type_) is not None

    def from_lanes(self, e: MakeVec) -> tuple[str, int]:
        v = e.type
        builtin = self.builtin_vector(v)
        if builtin is None:
            return VectorEmitter.from_lanes(self, e)
        make = self.dialect.half_vectors[v.dtype][1] if v.dtype in HALVES else f"make_{builtin}"
        return f"{make}({', '.join(self.expr(x) for x in e.elems)})", PRIMARY

    def broadcast(self, e: Broadcast) -> tuple[str, int]:
        simple = not isinstance(e.a, Binary | Math) and self.builtin_vector(e.type) is not None
        return self.from_lanes(MakeVec((e.a,) * e.lanes)) if simple else VectorEmitter.broadcast(self, e)

    def lane(self, e: Lane) -> tuple[str, int]:
        v = e.a.type
        if isinstance(v, Vec) and v.dtype is not DType.BOOL and self.builtin_vector(v) is not None:
            text = f"{self.expr(e.a, PRIMARY)}.{'xyzw'[e.i]}"
            return (f"({self.type_name(v.dtype)}){text}", CAST) if v.dtype in (DType.I64, DType.U64) else (text, PRIMARY)
        return VectorEmitter.lane(self, e)

    def vector_binary(self, e: Binary) -> tuple[str, int]:
        if scalar(e.a.type) is DType.BOOL:
            return VectorEmitter.vector_binary(self, e)
        return self.helper(f"{e.op}_{e.a.type}", e.type, (e.a, e.b), lambda x: Binary(e.op, x[0], x[1]))

    def vector_unary(self, e: Unary) -> tuple[str, int]:
        if scalar(e.type) is DType.BOOL:
            return VectorEmitter.vector_unary(self, e)
        return self.helper(f"{e.op}_{e.type}", e.type, (e.a,), lambda x: Unary(e.op, x[0]))

    def vector_cast(self, e: Cast) -> tuple[str, int]:
        source, target = scalar(e.a.type), scalar(e.type)
        if source is target or DType.BOOL in (source, target):
            return VectorEmitter.vector_cast(self, e)
        return self.helper(f"cast_{e.a.type}_to_{e.type}", e.type, (e.a,), lambda x: Cast(x[0], e.type))

    def vector_bitcast(self, e: Bitcast) -> tuple[str, int]:
        return f"{self.bitcast_helper(e.a.type, e.type)}({self.expr(e.a)})", PRIMARY

    def vector_math(self, e: Math) -> tuple[str, int]:
        return self.helper(f"{e.fn}_{e.type}", e.type, e.args, lambda x: Math(e.fn, x, e.type))

    def reduce(self, e: Reduce) -> tuple[str, int]:
        if scalar(e.a.type) is DType.BOOL and e.op == "xor" and self.on_device:
            v = e.a.type
            full = hex((1 << v.lanes) - 1) if isinstance(v, Vec) else "1"
            return f"(__popcll({self.expr(e.a, CAST)} & {full}) & 1)", PRIMARY
        return VectorEmitter.reduce(self, e)

    # ----------------------------------------------------------------------------------------------------- helpers

    def lane_printer(self, names: dict[Sym, str]) -> ExpressionPrinter:
        return GpuValues(self.module, names, self.helpers, dialect=self.dialect, halves=self.halves)

    def function_text(self, result: str, name: str, parameters: str, lines: list[str]) -> str:
        return "\n".join([f"{QUALIFIERS} {result} {name}({parameters}) {{", *lines, "}"])

    def spill(self, v: Vec, name: str) -> list[str]:
        declared = f"    {self.type_name(v.dtype)} {name}_[{v.lanes}];"
        if v.dtype is DType.BOOL:
            return [declared, f"    for (int l = 0; l < {v.lanes}; ++l) {name}_[l] = {name} >> l & 1;"]
        return [declared, f"    memcpy({name}_, &{name}, sizeof {name}_);"]


def mask_constant(e: Expr) -> str | None:
    """A mask of lanes that is a literal, in hexadecimal; None for what is computed."""
    return f"{int(e.value):#x}{'u' if e.type is DType.U32 else 'ull'}" if isinstance(e, Const) else None
