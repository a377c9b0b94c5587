"""The base emitter: serial C from the IR. A dialect overrides the few methods in which it differs; nothing here knows an instruction set.

Expressions are printed with the fewest parentheses that C's precedence allows. Casts are printed where C's implicit conversions would
not give the IR's exact type: arithmetic on types narrower than ``int`` is cast back, for instance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from synth.errors import UnsupportedError
from synth.ir.builder import int_value, is_const
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import (
    Alloc,
    Binary,
    Bitcast,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Math,
    Module,
    Param,
    Region,
    Return,
    Select,
    Stmt,
    Store,
    Sym,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import walk_expr, written_buffers

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
_PRECEDENCE = {
    "lor": 1, "land": 2, "or": 3, "xor": 4, "and": 5, "eq": 6, "ne": 6, "lt": 7, "le": 7, "gt": 7, "ge": 7,
    "shl": 8, "shr": 8, "add": 9, "sub": 9, "mul": 10, "div": 10, "mod": 10,
}  # fmt: skip
TERNARY, CAST, PRIMARY = 0, 11, 12
_SYMBOLS = {
    "lor": "||", "land": "&&", "or": "|", "xor": "^", "and": "&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "shl": "<<", "shr": ">>", "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%",
}  # fmt: skip
_UNARY = {"neg": "-", "bnot": "~", "lnot": "!"}
_SUFFIX = {DType.U32: "u", DType.I64: "l", DType.U64: "ul"}
_MATH_NAMES = {"abs": "fabs"}
STACK_LIMIT = 64 * 1024


@dataclass(slots=True)
class BaseEmitter:
    """Prints one module. ``helpers`` collects the small functions that the text needs, by name, in order of first use."""

    module: Module
    names: dict[Sym, str]
    helpers: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    indent: int = 0
    # Heap arrays alive here, by enclosing body; the bodies of loops are marked, so that a jump frees what it leaves.
    heap: list[tuple[bool, list[str]]] = field(default_factory=list)
    written: set[Sym] = field(default_factory=set)

    # ------------------------------------------------------------------------------------------------- expressions

    def expr(self, e: Expr, outer: int = 0) -> str:
        """The text of an expression, parenthesised when an operator of precedence ``outer`` would grab its parts."""
        text, own = self.expr_with_precedence(e)
        return f"({text})" if own < outer else text

    def expr_with_precedence(self, e: Expr) -> tuple[str, int]:
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
            return f"{value + 1}{_SUFFIX.get(e.type, '')} - 1", _PRECEDENCE["sub"]
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
        level = _PRECEDENCE[e.op]
        # C warns about, and readers stumble over, these mixtures even where precedence is right.
        a, b = (self.expr(x, level + (1 if i else 0)) for i, x in enumerate((e.a, e.b)))
        if e.op in ("and", "or", "xor", "shl", "shr", "land", "lor"):
            a, b = (
                f"({t})" if isinstance(x, Binary) and x.op != e.op and _is_mixture(x) and not t.startswith("(") else t
                for t, x in ((a, e.a), (b, e.b))
            )
        return self.narrowed(f"{a} {_SYMBOLS[e.op]} {b}", e.type, level)

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
            return f"{one} / {self.math_name('sqrt', dtype)}({args[0]})", _PRECEDENCE["div"]
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
        name = C_TYPES.get(type_) if isinstance(type_, DType) else None
        if name is None:
            raise UnsupportedError(f"type {type_} cannot be printed for this target")
        return name

    # -------------------------------------------------------------------------------------------------- statements

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text if text else "")

    def body(self, stmts: Body, *, loop: bool = False) -> None:
        """A body in its own scope; heap arrays allocated in it are freed at its end."""
        self.heap.append((loop, []))
        skip = False
        for here, following in zip(stmts, (*stmts[1:], None), strict=True):
            if skip:
                skip = False
            elif isinstance(here, Alloc):
                skip = self.alloc(here, following)
            else:
                self.stmt(here)
        if not stmts or not isinstance(stmts[-1], Break | Continue | Return):
            self.free(self.heap[-1:])
        self.heap.pop()

    def free(self, bodies: list[tuple[bool, list[str]]]) -> None:
        for _, names in reversed(bodies):
            for name in reversed(names):
                self.line(f"free({name});")

    def block(self, head: str, stmts: Body, *, loop: bool = False) -> None:
        self.line(head + " {")
        self.indent += 1
        self.body(stmts, loop=loop)
        self.indent -= 1
        self.line("}")

    def jump(self, s: Break | Continue | Return) -> None:
        inside = 0
        if not isinstance(s, Return):
            inside = max((i for i, (loop, _) in enumerate(self.heap) if loop), default=0)
        self.free(self.heap[inside:])
        self.line(self.return_text() if isinstance(s, Return) else "break;" if isinstance(s, Break) else "continue;")

    def stmt(self, s: Stmt) -> None:
        match s:
            case Let():
                self.line(f"const {self.type_name(s.value.type)} {self.names[s.sym]} = {self.expr(s.value)};")
            case Store():
                self.store(s)
            case For():
                self.loop(s)
            case While():
                self.block(f"while ({self.expr(s.cond)})", s.body, loop=True)
            case If():
                self.conditional(s)
            case Call():
                self.call(s)
            case Break() | Continue() | Return():
                self.jump(s)
            case _:
                raise UnsupportedError(f"{type(s).__name__} cannot be printed for this target", getattr(s, "loc", None))

    def return_text(self) -> str:
        return "return;" if self.module.result is None else f"return {self.expr(self.module.result)};"

    def store(self, s: Store) -> None:
        if s.mask is not None or (isinstance(s.value.type, Vec) and s.index):
            raise UnsupportedError("vector stores cannot be printed for this target", s.loc)
        place = self.element(s.buf, s.index)
        value = s.value
        compound = {"add", "sub", "mul", "div", "and", "or", "xor", "shl", "shr"}
        accumulates = isinstance(value, Binary) and value.op in compound and value.a == Load(s.buf, s.index, value.type)
        if isinstance(value, Binary) and accumulates and not isinstance(value.type, Vec):
            self.line(f"{place} {_SYMBOLS[value.op]}= {self.expr(value.b)};")
            return
        self.line(f"{place} = {self.expr(value)};")

    def alloc(self, s: Alloc, following: Stmt | None) -> bool:
        """Declares a buffer; True when the following store became its initialiser."""
        name, c = self.names[s.sym], self.type_name(s.dtype)
        if not s.shape:
            if s.init:
                self.line(f"{c} {name} = {self.expr(s.init[0])};")
            elif (
                isinstance(following, Store)
                and following.buf == s.sym
                and following.mask is None
                and not self.reads(following.value, s.sym)
            ):
                self.line(f"{c} {name} = {self.expr(following.value)};")
                return True
            else:
                self.line(f"{c} {name};")
            return False
        sizes = [int_value(extent) for extent in s.shape]
        known = [size for size in sizes if size is not None]
        dims = "".join(f"[{self.expr(extent)}]" for extent in s.shape)
        if s.init is not None:
            table = "static const " if s.sym not in self.written else self.array_qualifier(s)
            self.line(f"{table}{c} {name}{dims} = {self.initialiser(s.init, known)};")
        elif len(known) == len(sizes) and math.prod(known) * element_bytes(s.dtype) <= STACK_LIMIT:
            self.line(f"{self.array_qualifier(s)}{c} {name}{dims};")
        else:
            self.heap_array(s, name, c)
            self.heap[-1][1].append(name)
        return False

    def array_qualifier(self, s: Alloc) -> str:
        return ""

    def heap_array(self, s: Alloc, name: str, c: str) -> None:
        count = " * ".join(f"(size_t){self.expr(extent, CAST)}" for extent in s.shape)
        if len(s.shape) == 1:
            self.line(f"{c} *{name} = ({c} *)malloc({count} * sizeof({c}));")
            return
        if any(int_value(extent) is None for extent in s.shape[1:]):
            raise UnsupportedError(f"array '{s.sym.name}' has an inner size that is not constant", s.loc)
        inner = "".join(f"[{self.expr(extent)}]" for extent in s.shape[1:])
        self.line(f"{c} (*{name}){inner} = ({c} (*){inner})malloc({count} * sizeof({c}));")

    def initialiser(self, values: tuple[Const, ...], sizes: list[int]) -> str:
        if len(sizes) <= 1:
            return "{" + ", ".join(self.expr(v) for v in values) + "}"
        stride = len(values) // sizes[0]
        rows = [self.initialiser(values[i * stride : (i + 1) * stride], sizes[1:]) for i in range(sizes[0])]
        return "{" + ", ".join(rows) + "}"

    def reads(self, value: Expr, buf: Sym) -> bool:
        return any(isinstance(e, Load) and e.buf == buf for e in walk_expr(value))

    def loop(self, s: For) -> None:
        head = self.loop_head(s)
        self.annotate(s)
        self.block(head, s.body, loop=True)

    def annotate(self, s: For) -> None:
        """Prints what stands before a loop; nothing in plain C."""

    def loop_head(self, s: For) -> str:
        name, c = self.names[s.sym], self.type_name(s.dtype)
        hi, step_by = self.evaluated_once(s, s.hi, "end"), self.evaluated_once(s, s.step, "step")
        step = f"++{name}" if is_const(s.step, 1) else f"{name} += {step_by}"
        return f"for ({c} {name} = {self.expr(s.lo)}; {name} < {hi}; {step})"

    def evaluated_once(self, s: For, bound: Expr, what: str) -> str:
        """The text of a bound. What the body might change is computed before the loop, as the IR says."""
        if not needs_evaluation(bound, s.body):
            return self.expr(bound, _PRECEDENCE["lt"] + 1)
        name = self.fresh(f"{self.names[s.sym]}_{what}")
        self.line(f"const {self.type_name(bound.type)} {name} = {self.expr(bound)};")
        return name

    def fresh(self, stem: str) -> str:
        """A name that no symbol has."""
        taken, name, number = set(self.names.values()), stem, 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        self.names[Sym(name)] = name
        return name

    def conditional(self, s: If) -> None:
        if not s.then and s.orelse:
            self.block(f"if (!({self.expr(s.cond)}))", s.orelse)
            return
        self.line(f"if ({self.expr(s.cond)}) {{")
        self.indent += 1
        self.body(s.then)
        self.indent -= 1
        rest = s.orelse
        while len(rest) == 1 and isinstance(rest[0], If) and rest[0].then:
            self.line(f"}} else if ({self.expr(rest[0].cond)}) {{")
            self.indent += 1
            self.body(rest[0].then)
            self.indent -= 1
            rest = rest[0].orelse
        if rest:
            self.line("} else {")
            self.indent += 1
            self.body(rest)
            self.indent -= 1
        self.line("}")

    def call(self, s: Call) -> None:
        match s.op, s.dests, s.args:
            case "host.copy", (Region() as target,), (Region() as source,):
                count = " * ".join(f"(size_t){self.expr(extent, CAST)}" for extent in target.extent) or "1"
                to, from_ = self.address(target), self.address(source)
                self.line(f"memcpy({to}, {from_}, {count} * sizeof(*{to}));")
            case "host.fill", (Region() as target,), (value,) if not isinstance(value, Region):
                count = " * ".join(f"(size_t){self.expr(extent, CAST)}" for extent in target.extent) or "1"
                to = self.address(target)
                i = self.fresh("i_fill")
                self.line(f"for (size_t {i} = 0; {i} < {count}; ++{i}) ({to})[{i}] = {self.expr(value)};")
            case _:
                raise UnsupportedError(f"operation {s.op} cannot be printed for this target", s.loc)

    def address(self, region: Region) -> str:
        name = self.names[region.buf]
        if all(is_const(i, 0) for i in region.index) and len(region.index) <= 1:
            return name
        return "&" + self.element(region.buf, region.index)

    # ---------------------------------------------------------------------------------------------------- functions

    def parameter(self, p: Param) -> str:
        const = "const " if p.const else ""
        if p.is_buffer:
            return f"{const}{self.type_name(p.dtype)} *{self.names[p.sym]}"
        return f"{self.type_name(p.dtype)} {self.names[p.sym]}"

    def function(self) -> None:
        """The entry function."""
        result = "void" if self.module.result is None else self.type_name(self.module.result.type)
        parameters = ", ".join(self.parameter(p) for p in self.module.params) or "void"
        self.written = written_buffers(self.module.body)
        self.line(f"{result} {self.module.name}({parameters}) {{")
        self.indent += 1
        self.body(self.module.body)
        ended = self.module.body and isinstance(self.module.body[-1], Return)
        if self.module.result is not None and not ended:
            self.line(self.return_text())
        self.indent -= 1
        self.line("}")


def needs_evaluation(bound: Expr, body: Body) -> bool:
    """Whether a bound reads memory that the body writes."""
    loads = {e.buf for e in walk_expr(bound) if isinstance(e, Load)}
    return bool(loads) and bool(loads & written_buffers(body))


def shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that reads back as the same value of the type."""
    if dtype is DType.F64:
        text = repr(value)
    else:
        import numpy as np

        text = np.format_float_positional(np.float32(value), unique=True, trim="0")
        if len(text) > 16:
            text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return text if any(c in text for c in ".en") else text + ".0"


def element_bytes(type_: Type) -> int:
    """Storage of one element."""
    return type_.dtype.bytes * type_.lanes if isinstance(type_, Vec) else type_.bytes


def _is_mixture(e: Binary) -> bool:
    return e.op in ("and", "or", "xor", "shl", "shr", "land", "lor", "add", "sub")
