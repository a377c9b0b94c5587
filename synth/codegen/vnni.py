"""C for x86 with AVX-512: OpenMP over cores, vector values as intrinsics, with stand-ins for compilers without AVX-512.

Vector mathematics (``exp``, ``tanh``, ...) calls glibc's libmvec, whose AVX-512 variants are named after the vector function ABI
(``_ZGVeN16v_expf``; glibc manual, "Libmvec"); their error is at most 4 units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from synth.codegen.base import _CAST, _PRIMARY, _TERNARY, BaseEmitter
from synth.codegen.names import identifiers
from synth.codegen.standins import LANE_TYPES, lane_type_definition, lane_types_of, register_type, stand_in, type_definitions
from synth.errors import UnsupportedError
from synth.intrinsics.avx512 import PREFIX, Intrinsic, by_name, by_operation, is_register, vector_bits
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import (
    Alloc,
    Axis,
    Binary,
    Bitcast,
    Broadcast,
    Cast,
    Const,
    Expr,
    For,
    Lane,
    Load,
    MakeVec,
    Math,
    Module,
    Reduce,
    Select,
    Store,
    Sym,
    Unary,
    Var,
)
from synth.ir.traversal import walk, walk_expr

FLAGS = "-O3 -march=native -fopenmp"
LIBRARIES = "-lmvec -lm"
# Functions that libmvec of glibc 2.36 has in f32 and f64.
LIBMVEC = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 hypot log log10 log1p log2 pow
    sin sinh tan tanh""".split()
)
_ISA = {128: "b", 256: "d", 512: "e"}
_INFIX_MASK = {"and": "&", "or": "|", "xor": "^", "eq": "^", "ne": "^"}
_AVX512 = "#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)"

_C_LINKAGE = ("#ifdef __cplusplus", 'extern "C"', "#endif")

LaneMeaning = Callable[[tuple[Expr, ...]], Expr]


@dataclass(slots=True)
class VnniEmitter(BaseEmitter):
    """See the module docstring. ``used`` are the intrinsics that the text calls, ``library`` the libmvec functions: symbol to
    (declaration, portable definition)."""

    used: dict[str, Intrinsic] = field(default_factory=dict)
    library: dict[str, tuple[str, str]] = field(default_factory=dict)
    in_parallel: bool = False

    def type_name(self, type_: Type) -> str:
        if isinstance(type_, Vec):
            if not is_register(type_):
                raise UnsupportedError(f"vector type {type_} fills no register of 128, 256 or 512 bits")
            return register_type(type_)
        return BaseEmitter.type_name(self, type_)

    def intrinsic(self, operation: str, type_: Type) -> Intrinsic | None:
        found = by_operation().get((operation, type_))
        if found is not None:
            self.used[found.name] = found
        return found

    def required(self, operation: str, type_: Type) -> Intrinsic:
        found = self.intrinsic(operation, type_)
        if found is None:
            raise UnsupportedError(f"{operation} of {type_} has no intrinsic")
        return found

    def invoke(self, i: Intrinsic, *args: str) -> tuple[str, int]:
        tail = f", {i.immediate}" if i.immediate is not None else ""
        return f"{i.name}({', '.join(args)}{tail})", _PRIMARY

    # ------------------------------------------------------------------------------------------------- vector values

    def vector_expr(self, e: Expr) -> tuple[str, int]:
        match e:
            case Load(mask=None):
                return self.invoke(self.required("load", e.type), f"&{self.element(e.buf, e.index)}")
            case Load(mask=mask) if mask is not None:
                return self.invoke(self.required("maskload", e.type), self.expr(mask), f"&{self.element(e.buf, e.index)}")
            case Broadcast():
                return self.broadcast(e)
            case MakeVec():
                return self.from_lanes(e)
            case Lane():
                return self.lane(e)
            case Binary():
                return self.vector_binary(e)
            case Unary():
                return self.vector_unary(e)
            case Select():
                return self.blend(e)
            case Cast():
                return self.vector_cast(e)
            case Bitcast():
                return self.vector_bitcast(e)
            case Math(type=Vec() as v):
                return self.vector_math(e, v)
            case Reduce():
                return self.reduce(e)
            case _:
                raise UnsupportedError(f"{type(e).__name__} of {e.type} cannot be printed")

    def store(self, s: Store) -> None:
        if not isinstance(s.value.type, Vec) or not s.index:
            BaseEmitter.store(self, s)
            return
        address = f"&{self.element(s.buf, s.index)}"
        found = self.required("store" if s.mask is None else "maskstore", s.value.type)
        args = (address, self.expr(s.value)) if s.mask is None else (address, self.expr(s.mask), self.expr(s.value))
        self.line(self.invoke(found, *args)[0] + ";")

    def broadcast(self, e: Broadcast) -> tuple[str, int]:
        if e.type.dtype is DType.BOOL:
            c, full = register_type(e.type), hex((1 << e.lanes) - 1)
            if isinstance(e.a, Const):
                return f"({c}){full if e.a.value else '0'}", _CAST
            return f"({c})({self.expr(e.a, _TERNARY + 1)} ? {full} : 0)", _CAST
        return self.invoke(self.required("broadcast", e.type), self.expr(e.a))

    def from_lanes(self, e: MakeVec) -> tuple[str, int]:
        v = e.type
        if v.dtype is DType.BOOL:
            parts = [f"(uint64_t)({self.expr(x)}) << {l}" for l, x in enumerate(e.elems)]
            return f"({register_type(v)})({' | '.join(parts)})", _CAST
        load, c, width, name = self.required("load", v), LANE_TYPES[v.dtype], v.lanes, f"make_{v.dtype}x{v.lanes}"
        parameters = ", ".join(f"{c} e{l}" for l in range(width))
        values = ", ".join(f"e{l}" for l in range(width))
        head = f"static inline {register_type(v)} {name}({parameters}) {{"
        self.helpers[name] = f"{head}\n    {c} lanes[{width}] = {{{values}}};\n    return {load.name}(lanes);\n}}"
        return f"{name}({', '.join(self.expr(x) for x in e.elems)})", _PRIMARY

    def lane(self, e: Lane) -> tuple[str, int]:
        v = e.a.type
        if not isinstance(v, Vec):
            raise UnsupportedError("a lane of a scalar cannot be printed")
        if v.dtype is DType.BOOL:
            return f"({self.expr(e.a, _CAST)} >> {e.i} & 1)", _PRIMARY
        c, store, name = LANE_TYPES[v.dtype], self.required("store", v), f"lane_{v.dtype}x{v.lanes}"
        head = f"static inline {c} {name}({register_type(v)} v, int l) {{"
        self.helpers[name] = f"{head}\n    {c} lanes[{v.lanes}];\n    {store.name}(lanes, v);\n    return lanes[l];\n}}"
        return f"{name}({self.expr(e.a)}, {e.i})", _PRIMARY

    def vector_binary(self, e: Binary) -> tuple[str, int]:
        v = e.a.type
        if scalar(v) is DType.BOOL:
            if e.op not in _INFIX_MASK:
                raise UnsupportedError(f"{e.op} of masks cannot be printed")
            flip = "~" if e.op == "eq" else ""
            return f"({register_type(v)}){flip}({self.expr(e.a, _CAST)} {_INFIX_MASK[e.op]} {self.expr(e.b, _CAST)})", _CAST
        found = self.intrinsic(e.op, v)
        if found is None:
            return self.lanewise(e.type, f"{e.op}_{v}", (e.a, e.b), lambda x: Binary(e.op, x[0], x[1])), _PRIMARY
        a, b = self.expr(e.a), self.expr(e.b)
        if e.op in ("min", "max") and scalar(v) in (DType.F32, DType.F64):
            return self.invoke(found, b, a)
        return self.invoke(found, a, b)

    def vector_unary(self, e: Unary) -> tuple[str, int]:
        v = e.type
        if not isinstance(v, Vec):
            raise UnsupportedError("a vector was expected")
        if v.dtype is DType.BOOL:
            return f"({register_type(v)})~{self.expr(e.a, _CAST)}", _CAST
        if e.op == "neg":
            zero = Broadcast(Const(-0.0 if v.dtype.is_float else 0, v.dtype), v.lanes)
            return self.vector_binary(Binary("sub", zero, e.a))
        ones = Broadcast(Const(v.dtype.max_int if v.dtype.is_unsigned_int else -1, v.dtype), v.lanes)
        return self.vector_binary(Binary("xor", e.a, ones))

    def blend(self, e: Select) -> tuple[str, int]:
        if scalar(e.type) is DType.BOOL:
            m, a, b = (self.expr(x, _CAST) for x in (e.cond, e.a, e.b))
            return f"({self.type_name(e.type)})(({m} & {a}) | (~{m} & {b}))", _CAST
        return self.invoke(self.required("blend", e.type), self.expr(e.cond), self.expr(e.b), self.expr(e.a))

    def vector_cast(self, e: Cast) -> tuple[str, int]:
        source, target = e.a.type, e.type
        if not isinstance(source, Vec) or not isinstance(target, Vec):
            raise UnsupportedError(f"a cast from {source} to {target} cannot be printed")
        s, t = source.dtype, target.dtype
        if s.is_int and t.is_int and s.bits == t.bits:
            return self.expr(e.a), _PRIMARY
        if t is DType.BOOL:
            return self.vector_binary(Binary("ne", e.a, Broadcast(Const(0.0 if s.is_float else 0, s), source.lanes)))
        if s is DType.BOOL:
            one, zero = (Broadcast(Const(float(x) if t.is_float else x, t), target.lanes) for x in (1, 0))
            return self.blend(Select(e.a, one, zero))
        found = self.intrinsic(f"cast:{s}", target)
        if found is None and s.is_int and t.is_int:
            # Truncation and the target's signedness do not change the bits; only widening asks for the sign of the source.
            origin = DType(f"i{s.bits}") if t.bits < s.bits else s
            found = self.intrinsic(f"cast:{origin}", Vec(DType(f"i{t.bits}"), target.lanes))
        if found is not None:
            return self.invoke(found, self.expr(e.a))
        return self.lanewise(target, f"cast_{source}_to_{target}", (e.a,), lambda x: Cast(x[0], t)), _PRIMARY

    def vector_bitcast(self, e: Bitcast) -> tuple[str, int]:
        source, target = scalar(e.a.type), e.type
        if not isinstance(target, Vec) or not isinstance(e.a.type, Vec):
            raise UnsupportedError(f"a bitcast from {e.a.type} to {target} cannot be printed")
        if not source.is_float and not target.dtype.is_float:
            return self.expr_with_precedence(e.a)
        bits = vector_bits(target)
        names = {DType.F32: "ps", DType.F64: "pd"}
        name = f"{PREFIX[bits]}_cast{names.get(source, f'si{bits}')}_{names.get(target.dtype, f'si{bits}')}"
        known = by_name().get(name)
        if not known:
            raise UnsupportedError(f"a bitcast from {e.a.type} to {target} has no intrinsic")
        self.used[name] = known[0]
        return f"{name}({self.expr(e.a)})", _PRIMARY

    def vector_math(self, e: Math, v: Vec) -> tuple[str, int]:
        if e.fn == "rsqrt":
            return self.vector_binary(Binary("div", Broadcast(Const(1.0, v.dtype), v.lanes), Math("sqrt", e.args, v)))
        found = self.intrinsic(e.fn, v)
        if found is not None:
            return self.invoke(found, *(self.expr(a) for a in e.args))
        if e.fn in LIBMVEC and v.dtype in (DType.F32, DType.F64) and vector_bits(v) in PREFIX:
            return self.libmvec(e, v), _PRIMARY
        return self.lanewise(v, f"{e.fn}_{v}", e.args, lambda x: Math(e.fn, x, v.dtype)), _PRIMARY

    def libmvec(self, e: Math, v: Vec) -> str:
        suffix = "f" if v.dtype is DType.F32 else ""
        symbol = f"_ZGV{_ISA[vector_bits(v)]}N{v.lanes}{'v' * len(e.args)}_{e.fn}{suffix}"
        parameters = ", ".join(register_type(v) for _ in e.args)
        portable = self.lane_loop(symbol, v, (v,) * len(e.args), lambda x: Math(e.fn, x, v.dtype))
        self.library[symbol] = (f"{register_type(v)} {symbol}({parameters});", portable)
        return f"{symbol}({', '.join(self.expr(a) for a in e.args)})"

    def lanewise(self, result: Type, name: str, args: tuple[Expr, ...], meaning: LaneMeaning) -> str:
        """A helper that goes through memory, lane by lane, for what has no intrinsic."""
        if not isinstance(result, Vec) or result.dtype is DType.BOOL:
            raise UnsupportedError(f"{name} has no intrinsic")
        self.helpers[f"lanes_{name}"] = self.lane_loop(f"lanes_{name}", result, tuple(a.type for a in args), meaning)
        return f"lanes_{name}({', '.join(self.expr(a) for a in args)})"

    def lane_loop(self, symbol: str, result: Vec, types: tuple[Type, ...], meaning: LaneMeaning) -> str:
        letters = "abcd"[: len(types)]
        lanes = [Sym(f"{letter}_[l]") for letter in letters]
        inner = BaseEmitter(self.module, {s: s.name for s in lanes}, self.helpers)
        text = inner.expr(meaning(tuple(Var(s, scalar(t)) for s, t in zip(lanes, types, strict=True))))
        parameters = ", ".join(f"{register_type(t)} {letter}" for letter, t in zip(letters, types, strict=True))
        lines = [f"static inline {register_type(result)} {symbol}({parameters}) {{"]
        for letter, t in zip(letters, types, strict=True):
            lines.append(f"    {LANE_TYPES[scalar(t)]} {letter}_[{result.lanes}];")
            lines.append(f"    {self.required('store', t).name}({letter}_, {letter});")
        lines += [
            f"    {LANE_TYPES[result.dtype]} r_[{result.lanes}];",
            f"    for (int l = 0; l < {result.lanes}; ++l) r_[l] = {text};",
            f"    return {self.required('load', result).name}(r_);",
            "}",
        ]
        return "\n".join(lines)

    def reduce(self, e: Reduce) -> tuple[str, int]:
        v = e.a.type
        if not isinstance(v, Vec):
            raise UnsupportedError("a reduction of a scalar cannot be printed")
        if v.dtype is DType.BOOL:
            full = hex((1 << v.lanes) - 1)
            masked = f"({self.expr(e.a, _CAST)} & {full})"
            return (f"({masked} == {full})" if e.op in ("and", "min", "mul") else f"({masked} != 0)"), _PRIMARY
        found = self.intrinsic(f"reduce_{e.op}", v)
        if found is not None:
            return self.invoke(found, self.expr(e.a))
        store, c = self.required("store", v), LANE_TYPES[v.dtype]
        r, x = Sym("r"), Sym("lanes[l]")
        step = BaseEmitter(self.module, {r: "r", x: "lanes[l]"}, self.helpers).expr(Binary(e.op, Var(r, v.dtype), Var(x, v.dtype)))
        name = f"reduce_{e.op}_{v}"
        self.helpers[name] = (
            f"static inline {c} {name}({register_type(v)} v) {{\n    {c} lanes[{v.lanes}];\n    {store.name}(lanes, v);\n"
            f"    {c} r = lanes[0];\n    for (int l = 1; l < {v.lanes}; ++l) r = {step};\n    return r;\n}}"
        )
        return f"{name}({self.expr(e.a)})", _PRIMARY

    # ------------------------------------------------------------------------------------------------------- loops

    def loop(self, s: For) -> None:
        outermost = s.axis is Axis.OMP and not self.in_parallel
        if outermost:
            depth = collapsible(s)
            self.line("#pragma omp parallel for" + (f" collapse({depth})" if depth > 1 else ""))
            self.in_parallel = True
        elif s.axis is Axis.SIMD:
            self.line("#pragma omp simd" + "".join(f" reduction({op}:{self.names[buf]})" for buf, op in scalar_reductions(s)))
        BaseEmitter.loop(self, s)
        if outermost:
            self.in_parallel = False

    def array_qualifier(self, s: Alloc) -> str:
        return "alignas(64) "


def collapsible(s: For) -> int:
    """How many perfectly nested OMP loops with independent bounds start here."""
    depth, bound = 1, {s.sym}
    while len(s.body) == 1 and isinstance(s.body[0], For) and s.body[0].axis is Axis.OMP:
        s = s.body[0]
        if {e.sym for x in (s.lo, s.hi, s.step) for e in walk_expr(x) if isinstance(e, Var)} & bound:
            break
        bound.add(s.sym)
        depth += 1
    return depth


def scalar_reductions(s: For) -> list[tuple[Sym, str]]:
    """Mutable scalars from outside the loop that it only updates by one operator: OpenMP's ``reduction`` clause."""
    inside = {x.sym for x in walk(s.body) if isinstance(x, Alloc)}
    clauses = {"add": "+", "mul": "*", "min": "min", "max": "max", "and": "&", "or": "|", "xor": "^"}
    found: dict[Sym, str] = {}
    for x in walk(s.body):
        if isinstance(x, Store) and not x.index and x.buf not in inside and isinstance(x.value, Binary) and x.value.op in clauses:
            found[x.buf] = clauses[x.value.op]
    return list(found.items())


def emit(module: Module) -> str:
    """The whole file. Raises UnsupportedError naming what has no C form."""
    emitter = VnniEmitter(module, identifiers(module, frozenset(by_name())))
    emitter.function()
    header = [
        f"// {module.name}: C or C++ for x86-64 with AVX-512, generated by xpiler.",
        f"// Build: g++ {FLAGS}; link with {LIBRARIES}. Without AVX-512 it compiles to scalar code.",
        *(f"#include <{name}>" for name in ("math.h", "stdalign.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h")),
        "",
    ]
    return "\n".join([*header, *_prelude(emitter), *_C_LINKAGE, *emitter.lines]) + "\n"


def _prelude(emitter: VnniEmitter) -> list[str]:
    lines: list[str] = []
    if emitter.used or emitter.library:
        lines += [_AVX512, "#include <immintrin.h>"]
        for declaration, _ in emitter.library.values():
            lines += [*_C_LINKAGE, declaration]
        lines += [
            "#else  // the intrinsics used below in portable C, for compilers without AVX-512",
            '#pragma GCC diagnostic ignored "-Wpsabi"',
            *type_definitions(),
        ]
        groups = [by_name()[name] for name in emitter.used]
        types = {t for group in groups for i in group for t in lane_types_of(i)}
        lines += [lane_type_definition(t) for t in sorted(types, key=str)]
        constants = sorted({i.immediate for group in groups for i in group if i.immediate and not i.immediate.isdigit()})
        if constants:
            lines.append("enum { " + ", ".join(constants) + " };")
        for name in emitter.used:
            lines += stand_in(emitter.used[name], by_name()[name])
        lines += [*(portable for _, portable in emitter.library.values()), "#endif", ""]
    if emitter.helpers:
        lines += [*emitter.helpers.values(), ""]
    return lines
