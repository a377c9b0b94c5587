"""Vector values in C: AVX-512 intrinsics where there is one, a helper that goes through its lanes where there is none.

Vectors of 128, 256 or 512 bits are registers (``__m512``), vectors of ``bool`` are masks (``__mmask16``), every other vector (``float2``)
is a small struct of its lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from synth.codegen.base import BaseEmitter
from synth.codegen.expressions import CAST, PRIMARY, TERNARY, ExpressionPrinter
from synth.codegen.lanes import one_lane
from synth.codegen.standins import mask_bits, register_type
from synth.errors import UnsupportedError
from synth.intrinsics.avx512 import PREFIX, Intrinsic, by_name, by_operation, is_register, vector_bits
from synth.ir.dtypes import DType, Type, Vec, scalar
from synth.ir.grammar import (
    Binary,
    Bitcast,
    Broadcast,
    Cast,
    Const,
    Expr,
    Lane,
    Load,
    MakeVec,
    Math,
    Reduce,
    Select,
    Store,
    Sym,
    Unary,
    Var,
)

# Functions that libmvec of glibc 2.35 and later has in f32 and f64.
LIBMVEC = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp10 exp2 expm1 hypot log log10 log1p log2 pow
    sin sinh tan tanh""".split()
)
# Letters of the vector function ABI: SSE, AVX2, AVX-512.
_ISA = {128: "b", 256: "d", 512: "e"}
_MASK_OPERATORS = {"and": "&", "or": "|", "xor": "^", "eq": "^", "ne": "^"}

# Maps arguments (as variables of vector type) to the expression that a helper computes.
Formula = Callable[[tuple[Expr, ...]], Expr]


@dataclass(slots=True)
class VectorEmitter(BaseEmitter):
    """``used`` are the intrinsics that the text calls, ``library`` the libmvec functions: symbol to (declaration, portable definition)."""

    used: dict[str, Intrinsic] = field(default_factory=dict)
    library: dict[str, tuple[str, str]] = field(default_factory=dict)
    registers: bool = False

    def type_name(self, type_: Type) -> str:
        if not isinstance(type_, Vec):
            return BaseEmitter.type_name(self, type_)
        if type_.dtype is DType.BOOL and type_.lanes > 64:
            raise UnsupportedError(f"masks of {type_.lanes} lanes cannot be printed")
        if type_.dtype is DType.BOOL or is_register(type_):
            self.registers = True
            return register_type(type_)
        name = f"xp_{type_}"
        self.helpers[name] = f"typedef struct {{ {self.type_name(type_.dtype)} lane[{type_.lanes}]; }} {name};"
        return name

    def intrinsic(self, operation: str, type_: Type) -> Intrinsic | None:
        found = by_operation().get((operation, type_))
        if found is not None:
            self.used[found.name] = by_name()[found.name][0]  # the same bits, where types share a name
            self.registers = True
        return found

    def invoke(self, i: Intrinsic, *args: str) -> tuple[str, int]:
        tail = f", {i.immediate}" if i.immediate is not None else ""
        return f"{i.name}({', '.join(args)}{tail})", PRIMARY

    # ------------------------------------------------------------------------------------------------- expressions

    def vector_expr(self, e: Expr) -> tuple[str, int]:
        match e:
            case Load():
                return self.vector_load(e)
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
            case Math():
                return self.vector_math(e)
            case Reduce():
                return self.reduce(e)
            case _:
                raise UnsupportedError(f"{type(e).__name__} of {e.type} cannot be printed")

    def vector_load(self, e: Load) -> tuple[str, int]:
        address = f"&{self.element(e.buf, e.index)}"
        found = self.intrinsic("load" if e.mask is None else "maskload", e.type)
        if found is not None:
            return self.invoke(found, *([] if e.mask is None else [self.expr(e.mask)]), address)
        v, c, t = e.type, self.type_name(scalar(e.type)), self.type_name(e.type)
        assert isinstance(v, Vec)
        if e.mask is None:
            name, parameters, guard = f"load_{v}", f"const {c} *p", ""
        else:
            mask = self.type_name(Vec(DType.BOOL, v.lanes))
            name, parameters, guard = f"maskload_{v}", f"{mask} m, const {c} *p", "if (m >> l & 1) "
        loop = f"    for (int l = 0; l < {v.lanes}; ++l) {guard}r_[l] = p[l];"
        self.helpers[name] = self.function_text(t, name, parameters, [f"    {c} r_[{v.lanes}] = {{0}};", loop, *self.gather(v)])
        return f"{name}({'' if e.mask is None else self.expr(e.mask) + ', '}{address})", PRIMARY

    def store(self, s: Store) -> None:
        v = s.value.type
        if not isinstance(v, Vec) or not s.index:
            BaseEmitter.store(self, s)
            return
        address = f"&{self.element(s.buf, s.index)}"
        found = self.intrinsic("store" if s.mask is None else "maskstore", v)
        masks = [] if s.mask is None else [self.expr(s.mask)]
        if found is not None:
            self.line(self.invoke(found, address, *masks, self.expr(s.value))[0] + ";")
            return
        c, t = self.type_name(v.dtype), self.type_name(v)
        mask = "" if s.mask is None else f"{self.type_name(Vec(DType.BOOL, v.lanes))} m, "
        name, guard = ("store_", "") if s.mask is None else ("maskstore_", "if (m >> l & 1) ")
        loop = f"    for (int l = 0; l < {v.lanes}; ++l) {guard}p[l] = a_[l];"
        self.helpers[f"{name}{v}"] = self.function_text("void", f"{name}{v}", f"{c} *p, {mask}{t} a", [*self.spill(v, "a"), loop])
        self.line(f"{name}{v}({', '.join([address, *masks, self.expr(s.value)])});")

    def broadcast(self, e: Broadcast) -> tuple[str, int]:
        if e.type.dtype is DType.BOOL:
            c, full = self.type_name(e.type), hex((1 << e.lanes) - 1)
            if isinstance(e.a, Const):
                return f"({c}){full if e.a.value else '0'}", CAST
            return f"({c})({self.expr(e.a, TERNARY + 1)} ? {full} : 0)", CAST
        found = self.intrinsic("broadcast", e.type)
        if found is not None:
            return self.invoke(found, self.expr(e.a))
        return self.helper(f"splat_{e.type}", e.type, (e.a,), lambda x: x[0])

    def from_lanes(self, e: MakeVec) -> tuple[str, int]:
        v = e.type
        if v.dtype is DType.BOOL and all(isinstance(x, Const) for x in e.elems):
            bits = sum(1 << l for l, x in enumerate(e.elems) if isinstance(x, Const) and x.value)
            return f"({self.type_name(v)}){bits:#x}", CAST
        if v.dtype is DType.BOOL:
            parts = [f"(uint64_t)({self.expr(x)}) << {l}" for l, x in enumerate(e.elems)]
            return f"({self.type_name(v)})({' | '.join(parts)})", CAST
        c, name = self.type_name(v.dtype), f"make_{v}"
        values = ", ".join(f"e{l}" for l in range(v.lanes))
        parameters = ", ".join(f"{c} e{l}" for l in range(v.lanes))
        t = self.type_name(v)
        self.helpers[name] = self.function_text(t, name, parameters, [f"    {c} r_[{v.lanes}] = {{{values}}};", *self.gather(v)])
        return f"{name}({', '.join(self.expr(x) for x in e.elems)})", PRIMARY

    def lane(self, e: Lane) -> tuple[str, int]:
        v = e.a.type
        assert isinstance(v, Vec)
        if v.dtype is DType.BOOL:
            return f"({self.expr(e.a, CAST)} >> {e.i} & 1)", PRIMARY
        c, t, name = self.type_name(v.dtype), self.type_name(v), f"lane_{v}"
        self.helpers[name] = self.function_text(c, name, f"{t} a, int l", [*self.spill(v, "a"), "    return a_[l];"])
        return f"{name}({self.expr(e.a)}, {e.i})", PRIMARY

    def vector_binary(self, e: Binary) -> tuple[str, int]:
        v = e.a.type
        if scalar(v) is DType.BOOL:
            flip = "~" if e.op == "eq" else ""
            return f"({self.type_name(v)}){flip}({self.expr(e.a, CAST)} {_MASK_OPERATORS[e.op]} {self.expr(e.b, CAST)})", CAST
        found = self.intrinsic(e.op, v)
        if found is not None:
            return self.invoke(found, self.expr(e.a), self.expr(e.b))
        return self.helper(f"{e.op}_{v}", e.type, (e.a, e.b), lambda x: Binary(e.op, x[0], x[1]))

    def vector_unary(self, e: Unary) -> tuple[str, int]:
        v = e.type
        assert isinstance(v, Vec)
        if v.dtype is DType.BOOL:
            return f"({self.type_name(v)})~{self.expr(e.a, CAST)}", CAST
        if not is_register(v):
            return self.helper(f"{e.op}_{v}", v, (e.a,), lambda x: Unary(e.op, x[0]))
        if e.op == "neg":
            zero = Broadcast(Const(-0.0 if v.dtype.is_float else 0, v.dtype), v.lanes)
            return self.vector_binary(Binary("sub", zero, e.a))
        ones = Broadcast(Const(v.dtype.max_int if v.dtype.is_unsigned_int else -1, v.dtype), v.lanes)
        return self.vector_binary(Binary("xor", e.a, ones))

    def blend(self, e: Select) -> tuple[str, int]:
        v = e.type
        if scalar(v) is DType.BOOL:
            m, a, b = (self.expr(x, CAST) for x in (e.cond, e.a, e.b))
            return f"({self.type_name(v)})(({m} & {a}) | (~{m} & {b}))", CAST
        # a < b ? a : b is exactly what vminps computes, NaNs and zeros included; likewise a > b for vmaxps.
        if isinstance(e.cond, Binary) and (e.cond.a, e.cond.b) == (e.a, e.b):
            extremum = self.intrinsic(f"select_{e.cond.op}", v)
            if extremum is not None:
                return self.invoke(extremum, self.expr(e.a), self.expr(e.b))
        found = self.intrinsic("blend", v)
        if found is not None:
            return self.invoke(found, self.expr(e.cond), self.expr(e.b), self.expr(e.a))
        return self.helper(f"blend_{v}", v, (e.cond, e.a, e.b), lambda x: Select(x[0], x[1], x[2]))

    def vector_cast(self, e: Cast) -> tuple[str, int]:
        source, target = e.a.type, e.type
        assert isinstance(source, Vec) and isinstance(target, Vec)
        s, t = source.dtype, target.dtype
        if s is t:
            return self.expr_with_precedence(e.a)
        if s.is_int and t.is_int and s.bits == t.bits and is_register(target):
            return self.expr_with_precedence(e.a)
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
        return self.helper(f"cast_{source}_to_{target}", target, (e.a,), lambda x: Cast(x[0], target))

    def vector_bitcast(self, e: Bitcast) -> tuple[str, int]:
        source, target = e.a.type, e.type
        if isinstance(source, Vec) and isinstance(target, Vec) and is_register(source) and is_register(target):
            if not source.dtype.is_float and not target.dtype.is_float:
                return self.expr_with_precedence(e.a)
            bits = vector_bits(target)
            names = {DType.F32: "ps", DType.F64: "pd"}
            name = f"{PREFIX[bits]}_cast{names.get(source.dtype, f'si{bits}')}_{names.get(target.dtype, f'si{bits}')}"
            if name in by_name():
                self.used[name] = by_name()[name][0]
                return f"{name}({self.expr(e.a)})", PRIMARY
        return f"{self.bitcast_helper(source, target)}({self.expr(e.a)})", PRIMARY

    def vector_math(self, e: Math) -> tuple[str, int]:
        v = e.type
        assert isinstance(v, Vec)
        if e.fn == "rsqrt":
            return self.vector_binary(Binary("div", Broadcast(Const(1.0, v.dtype), v.lanes), Math("sqrt", e.args, v)))
        found = self.intrinsic(e.fn, v)
        if found is not None:
            return self.invoke(found, *(self.expr(a) for a in e.args))
        if e.fn in LIBMVEC and v.dtype in (DType.F32, DType.F64) and vector_bits(v) in PREFIX:
            return self.libmvec(e, v), PRIMARY
        return self.helper(f"{e.fn}_{v}", v, e.args, lambda x: Math(e.fn, x, v))

    def libmvec(self, e: Math, v: Vec) -> str:
        suffix = "f" if v.dtype is DType.F32 else ""
        symbol = f"_ZGV{_ISA[vector_bits(v)]}N{v.lanes}{'v' * len(e.args)}_{e.fn}{suffix}"
        parameters = ", ".join(self.type_name(v) for _ in e.args)
        portable = self.lane_loop(symbol, v, (v,) * len(e.args), lambda x: Math(e.fn, x, v))
        self.library[symbol] = (f"{self.type_name(v)} {symbol}({parameters});", portable)
        return f"{symbol}({', '.join(self.expr(a) for a in e.args)})"

    def reduce(self, e: Reduce) -> tuple[str, int]:
        v = e.a.type
        assert isinstance(v, Vec)
        if v.dtype is DType.BOOL:
            full = hex((1 << v.lanes) - 1)
            masked = f"({self.expr(e.a, CAST)} & {full})"
            if e.op == "xor":
                return f"__builtin_parityll{masked}", PRIMARY
            return (f"({masked} == {full})" if e.op == "and" else f"({masked} != 0)"), PRIMARY
        found = self.intrinsic(f"reduce_{e.op}", v)
        if found is not None:
            text, own = self.invoke(found, self.expr(e.a))
            shared = self.used[found.name].result != v.dtype  # the signed sum serves the unsigned type too
            return (f"({self.type_name(v.dtype)}){text}", CAST) if shared else (text, own)
        c, t, name = self.type_name(v.dtype), self.type_name(v), f"reduce_{e.op}_{v}"
        r, x = Sym("r"), Sym("a_[l]")
        step = self.lane_printer({r: "r", x: "a_[l]"}).expr(Binary(e.op, Var(r, v.dtype), Var(x, v.dtype)))
        loop = f"    for (int l = 1; l < {v.lanes}; ++l) r = {step};"
        self.helpers[name] = self.function_text(c, name, f"{t} a", [*self.spill(v, "a"), f"    {c} r = a_[0];", loop, "    return r;"])
        return f"{name}({self.expr(e.a)})", PRIMARY

    # ----------------------------------------------------------------------------------------------------- helpers

    def helper(self, name: str, result: Type, args: tuple[Expr, ...], formula: Formula) -> tuple[str, int]:
        """Calls a helper that goes through the lanes, for what has no intrinsic."""
        symbol = f"lanes_{name}"
        self.helpers[symbol] = self.lane_loop(symbol, result, tuple(a.type for a in args), formula)
        return f"{symbol}({', '.join(self.expr(a) for a in args)})", PRIMARY

    def lane_loop(self, symbol: str, result: Type, types: tuple[Type, ...], formula: Formula) -> str:
        assert isinstance(result, Vec)
        letters = "abcd"[: len(types)]
        symbols = [Sym(letter) for letter in letters]
        names = {s: f"{s.name}_[l]" if isinstance(t, Vec) else s.name for s, t in zip(symbols, types, strict=True)}
        lane = one_lane(formula(tuple(Var(s, t) for s, t in zip(symbols, types, strict=True))))
        text = self.lane_printer(names).expr(lane)
        lines = [line for letter, t in zip(letters, types, strict=True) if isinstance(t, Vec) for line in self.spill(t, letter)]
        lines += [
            f"    {self.type_name(result.dtype)} r_[{result.lanes}];",
            f"    for (int l = 0; l < {result.lanes}; ++l) r_[l] = {text};",
        ]
        parameters = ", ".join(f"{self.type_name(t)} {letter}" for letter, t in zip(letters, types, strict=True))
        return self.function_text(self.type_name(result), symbol, parameters, [*lines, *self.gather(result)])

    def lane_printer(self, names: dict[Sym, str]) -> ExpressionPrinter:
        return ExpressionPrinter(self.module, names, self.helpers, self.soft_bf16)

    def function_text(self, result: str, name: str, parameters: str, lines: list[str]) -> str:
        return "\n".join([f"static inline {result} {name}({parameters}) {{", *lines, "}"])

    def spill(self, v: Vec, name: str) -> list[str]:
        """Statements that put the lanes of a variable into the array ``name_``."""
        declared = f"    {self.type_name(v.dtype)} {name}_[{v.lanes}];"
        if v.dtype is DType.BOOL:
            return [declared, f"    for (int l = 0; l < {v.lanes}; ++l) {name}_[l] = {name} >> l & 1;"]
        found = self.intrinsic("store", v)
        return [declared, f"    {found.name}({name}_, {name});" if found else f"    memcpy({name}_, &{name}, sizeof {name}_);"]

    def gather(self, v: Vec) -> list[str]:
        """Statements that return the vector whose lanes are in the array ``r_``."""
        t = self.type_name(v)
        if v.dtype is DType.BOOL:
            unsigned = f"uint{mask_bits(v)}_t"
            return [
                f"    {t} r = 0;",
                f"    for (int l = 0; l < {v.lanes}; ++l) r |= ({unsigned})(({unsigned})r_[l] << l);",
                "    return r;",
            ]
        found = self.intrinsic("load", v)
        return [f"    return {found.name}(r_);"] if found else [f"    {t} r;", "    memcpy(&r, r_, sizeof r);", "    return r;"]
