"""Serial C expressions from the IR, with the fewest parentheses that C's precedence allows and explicit casts only where C's implicit
conversions would not give the IR's exact type: arithmetic on types narrower than ``int`` is cast back, for instance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from synth.errors import UnsupportedError
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import Binary, Bitcast, Cast, Const, Expr, Load, Math, Module, Select, Sym, Unary, Var
from synth.ir.traversal import expr_children, map_expr_children

C_TYPES: dict[DType, str] = {
    DType.BOOL: "bool",
    DType.I8: "int8_t",
    DType.U8: "uint8_t",
    DType.I16: "int16_t",
    DType.U16: "uint16_t",
    DType.I32: "int",
    DType.U32: "unsigned",
    DType.I64: "int64_t",
    DType.U64: "uint64_t",
    DType.F16: "_Float16",
    DType.F32: "float",
    DType.F64: "double",
}

# Precedence of C operators, higher binds tighter.
PRECEDENCE = {
    "lor": 1, "land": 2, "or": 3, "xor": 4, "and": 5, "eq": 6, "ne": 6, "lt": 7, "le": 7, "gt": 7, "ge": 7,
    "shl": 8, "shr": 8, "add": 9, "sub": 9, "mul": 10, "div": 10, "mod": 10,
}  # fmt: skip
TERNARY, CAST, PRIMARY = 0, 11, 12
SYMBOLS = {
    "lor": "||", "land": "&&", "or": "|", "xor": "^", "and": "&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "shl": "<<", "shr": ">>", "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%",
}  # fmt: skip
_UNARY = {"neg": "-", "bnot": "~", "lnot": "!"}
_SUFFIX = {DType.U32: "u", DType.I64: "l", DType.U64: "ul"}
_MATH_NAMES = {"abs": "fabs"}


@dataclass(slots=True)
class ExpressionPrinter:
    """Prints scalar expressions. ``helpers`` collects the small functions that the text needs, by name, in order of first use.

    ``soft_bf16``: the target has no type for bfloat16, whose values are kept as their bits and computed with in float.
    """

    module: Module
    names: dict[Sym, str]
    helpers: dict[str, str] = field(default_factory=dict)
    soft_bf16: bool = False

    def expr(self, e: Expr, outer: int = 0) -> str:
        """The text of an expression, parenthesised when an operator of precedence ``outer`` would grab its parts."""
        text, own = self.expr_with_precedence(e)
        return f"({text})" if own < outer else text

    def expr_with_precedence(self, e: Expr) -> tuple[str, int]:
        if self.soft_bf16 and (soft := self.bf16(e)) is not None:
            return soft
        match e:
            case Const():
                return self.constant(e)
            case Var():
                return self.names[e.sym], PRIMARY
            case Load(mask=None) if not isinstance(e.type, Vec) or not e.index:
                return self.element(e.buf, e.index), PRIMARY
            case Unary() if not isinstance(e.type, Vec):
                return self.narrowed(f"{_UNARY[e.op]}{self.expr(e.a, PRIMARY)}", e.type, CAST)
            case Binary() if not isinstance(e.a.type, Vec):
                return self.binary(e)
            case Cast() if not isinstance(e.type, Vec):
                return f"({self.type_name(e.type)}){self.expr(e.a, CAST)}", CAST
            case Bitcast() if not isinstance(e.type, Vec) and not isinstance(e.a.type, Vec):
                return f"{self.bitcast_helper(e.a.type, e.type)}({self.expr(e.a)})", PRIMARY
            case Select() if not isinstance(e.cond.type, Vec):
                parts = self.expr(e.cond, TERNARY + 1), self.expr(e.a, TERNARY + 1), self.expr(e.b, TERNARY)
                return f"{parts[0]} ? {parts[1]} : {parts[2]}", TERNARY
            case Math() if not isinstance(e.type, Vec):
                return self.math(e)
            case _:
                return self.vector_expr(e)

    # Sums, products, quotients and roots of bfloat16 values that are rounded to float first and then to bfloat16 are rounded as if once,
    # since float has more than twice as many digits and two more (Figueroa, "When is double rounding innocuous?").
    def bf16(self, e: Expr) -> tuple[str, int] | None:
        """An expression with bfloat16 operands or result; None for one that only moves values."""
        match e:
            case Const(type=DType.BF16):
                return self._rounded(Const(e.value, DType.F32))
            case Cast(type=DType.BF16):
                return self._rounded(e.a if e.a.type is DType.F32 else Cast(e.a, DType.F32))
            case Cast() if e.a.type is DType.BF16 and isinstance(e.type, DType):
                text = f"{self._wide_helper()}({self.expr(e.a)})"
                return (text, PRIMARY) if e.type is DType.F32 else (f"({self.type_name(e.type)}){text}", CAST)
            case Unary() | Binary() | Math() if any(x.type is DType.BF16 for x in expr_children(e)):
                wide = map_expr_children(e, lambda x: Cast(x, DType.F32))
                if isinstance(wide, Math):
                    wide = Math(wide.fn, wide.args, DType.F32)
                return self.expr_with_precedence(wide) if e.type is DType.BOOL else self._rounded(wide)
            case _:
                return None

    def _rounded(self, e: Expr) -> tuple[str, int]:
        self.helpers["bf16_of_float"] = (
            "static inline uint16_t bf16_of_float(float a) { uint32_t b; memcpy(&b, &a, sizeof b); "
            "return (uint16_t)((a != a ? b | 0x400000 : b + 0x7fff + ((b >> 16) & 1)) >> 16); }"
        )
        return f"bf16_of_float({self.expr(e)})", PRIMARY

    def _wide_helper(self) -> str:
        name = "float_of_bf16"
        self.helpers[name] = (
            f"static inline float {name}(uint16_t a) "
            "{ const uint32_t b = (uint32_t)a << 16; float c; memcpy(&c, &b, sizeof c); return c; }"
        )
        return name

    def vector_expr(self, e: Expr) -> tuple[str, int]:
        """Vector expressions are the dialect's business."""
        raise UnsupportedError(f"vector values ({e.type}) cannot be printed for this target")

    def constant(self, e: Const) -> tuple[str, int]:
        if e.type is DType.BOOL:
            return ("true" if e.value else "false"), PRIMARY
        if e.type.is_float:
            return self.float_constant(float(e.value), e.type)
        value = int(e.value)
        if value == e.type.min_int and e.type.bits >= 32 and value < 0:
            return f"{value + 1}{_SUFFIX.get(e.type, '')} - 1", PRECEDENCE["sub"]
        text = f"{value}{_SUFFIX.get(e.type, '')}"
        return text, PRIMARY if value >= 0 else CAST

    def float_constant(self, value: float, dtype: DType) -> tuple[str, int]:
        suffix = "f" if dtype is DType.F32 else ""
        if math.isnan(value):
            text = "NAN"
        elif math.isinf(value):
            text = "INFINITY" if value > 0 else "-INFINITY"
        else:
            text = shortest(value, dtype) + suffix
        if dtype in (DType.F16, DType.BF16):
            return f"({self.type_name(dtype)}){text}", CAST
        return text, CAST if text.startswith("-") else PRIMARY

    def binary(self, e: Binary) -> tuple[str, int]:
        if e.op in ("min", "max"):
            return self.minimum(e), PRIMARY
        if e.op == "mod" and e.type in (DType.F32, DType.F64):
            return f"{self.math_name('fmod', e.a.type)}({self.expr(e.a)}, {self.expr(e.b)})", PRIMARY
        level = PRECEDENCE[e.op]
        # C warns about, and readers stumble over, these mixtures even where precedence is right.
        a, b = (self.expr(x, level + (1 if i else 0)) for i, x in enumerate((e.a, e.b)))
        if e.op in ("and", "or", "xor", "shl", "shr", "land", "lor"):
            a, b = (
                f"({t})" if isinstance(x, Binary) and x.op != e.op and _is_mixture(x) and not t.startswith("(") else t
                for t, x in ((a, e.a), (b, e.b))
            )
        return self.narrowed(f"{a} {SYMBOLS[e.op]} {b}", e.type, level)

    def narrowed(self, text: str, type_: Type, level: int) -> tuple[str, int]:
        """Casts back what C computed in ``int`` although its type is narrower."""
        if isinstance(type_, DType) and type_.is_int and type_.bits < 32:
            inner = text if level > CAST else f"({text})"
            return f"({self.type_name(type_)}){inner}", CAST
        if type_ is DType.F16:  # computed in float; the cast rounds
            return f"(_Float16)({text})", CAST
        return text, level

    def minimum(self, e: Binary) -> str:
        a, b = self.expr(e.a), self.expr(e.b)
        dtype = e.type
        if not isinstance(dtype, DType):
            raise UnsupportedError(f"{e.op} of {dtype} cannot be printed")
        if dtype in (DType.F32, DType.F64):
            return f"{self.math_name('f' + e.op, dtype)}({a}, {b})"
        name = f"{e.op}_{dtype}"
        c = self.type_name(dtype)
        sign = "<" if e.op == "min" else ">"
        self.helpers[name] = f"static inline {c} {name}({c} a, {c} b) {{ return a {sign} b ? a : b; }}"
        return f"{name}({a}, {b})"

    def math(self, e: Math) -> tuple[str, int]:
        args = [self.expr(a) for a in e.args]
        dtype = e.type
        if not isinstance(dtype, DType):
            raise UnsupportedError(f"{e.fn} of {dtype} cannot be printed")
        if dtype in (DType.F16, DType.BF16):
            inner = ", ".join(f"(float){self.expr(a, CAST)}" for a in e.args)
            return f"({self.type_name(dtype)}){self.math_name(e.fn, DType.F32)}({inner})", CAST
        if e.fn == "rsqrt":
            one = "1.0f" if dtype is DType.F32 else "1.0"
            return f"{one} / {self.math_name('sqrt', dtype)}({args[0]})", PRECEDENCE["div"]
        if e.fn == "abs" and dtype.is_int:
            return self.integer_abs(args[0], dtype), PRIMARY
        return f"{self.math_name(e.fn, dtype)}({', '.join(args)})", PRIMARY

    def integer_abs(self, argument: str, dtype: DType) -> str:
        name, c = f"abs_{dtype}", self.type_name(dtype)
        self.helpers[name] = f"static inline {c} {name}({c} a) {{ return a < 0 ? -a : a; }}"
        return f"{name}({argument})"

    def math_name(self, fn: str, dtype: Type) -> str:
        name = _MATH_NAMES.get(fn, fn)
        return name + ("f" if dtype is DType.F32 else "")

    def bitcast_helper(self, source: Type, target: Type) -> str:
        name = f"bits_{source}_to_{target}"
        s, t = self.type_name(source), self.type_name(target)
        self.helpers[name] = f"static inline {t} {name}({s} a) {{ {t} b; memcpy(&b, &a, sizeof b); return b; }}"
        return name

    def element(self, buf: Sym, index: tuple[Expr, ...]) -> str:
        return self.names[buf] + "".join(f"[{self.expr(i)}]" for i in index)

    def type_name(self, type_: Type) -> str:
        if type_ is DType.BF16 and self.soft_bf16:
            return "uint16_t"
        name = C_TYPES.get(type_) if isinstance(type_, DType) else None
        if name is None:
            raise UnsupportedError(f"type {type_} cannot be printed for this target")
        return name


def shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that reads back as the same value of the type."""
    if value == int(value) and abs(value) < 2**53:
        text = f"{value:.1f}"
    elif dtype is DType.F64:
        text = repr(value)
    else:
        text = np.format_float_positional(np.float32(value), unique=True, trim="0")
        if len(text) > 16:
            text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return text if any(c in text for c in ".en") else text + ".0"


def _is_mixture(e: Binary) -> bool:
    return e.op in ("and", "or", "xor", "shl", "shr", "land", "lor", "add", "sub")
