"""The base emitter: serial C from the IR. A dialect overrides the few methods in which it differs; no instruction set is known here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from synth.codegen.expressions import CAST, PRECEDENCE, SYMBOLS, ExpressionPrinter
from synth.errors import UnsupportedError
from synth.ir.builder import int_value, is_const
from synth.ir.dtypes import Type, Vec
from synth.ir.grammar import (
    Alloc,
    Binary,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Let,
    Load,
    Param,
    Region,
    Return,
    Stmt,
    Store,
    Sym,
    While,
)
from synth.ir.traversal import walk_expr, written_buffers

STACK_LIMIT = 64 * 1024  # bytes of a local array, from which on it is allocated on the heap


@dataclass(slots=True)
class BaseEmitter(ExpressionPrinter):
    """Prints one module as a function, line by line."""

    lines: list[str] = field(default_factory=list)
    indent: int = 0
    # Heap arrays alive here, by enclosing body; the bodies of loops are marked, so that a jump frees what it leaves.
    heap: list[tuple[bool, list[str]]] = field(default_factory=list)
    written: set[Sym] = field(default_factory=set)
    element_types: dict[Sym, str] = field(default_factory=dict)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text if text else "")

    def body(self, stmts: Body, *, loop: bool = False) -> None:
        """A body in its own scope; heap arrays allocated in it are freed at its end."""
        self.heap.append((loop, []))
        skip = False
        for here, following in zip(stmts, (*stmts[1:], None), strict=False):
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
            self.line(f"{place} {SYMBOLS[value.op]}= {self.expr(value.b)};")
            return
        self.line(f"{place} = {self.expr(value)};")

    def alloc(self, s: Alloc, following: Stmt | None) -> bool:
        """Declares a buffer; True when the following store became its initialiser."""
        name, c = self.names[s.sym], self.type_name(s.dtype)
        self.element_types[s.sym] = c
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
        count = self.count(s.shape)
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
            return self.expr(bound, PRECEDENCE["lt"] + 1)
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
                count = self.count(target.extent)
                to, from_ = self.address(target), self.address(source)
                self.line(f"memcpy({to}, {from_}, {count} * sizeof({self.element_types[target.buf]}));")
            case "host.fill", (Region() as target,), (value,) if not isinstance(value, Region):
                count = self.count(target.extent)
                to = self.address(target)
                i = self.fresh("i_fill")
                self.line(f"for (size_t {i} = 0; {i} < {count}; ++{i}) ({to})[{i}] = {self.expr(value)};")
            case _:
                raise UnsupportedError(f"operation {s.op} cannot be printed for this target", s.loc)

    def count(self, extents: tuple[Expr, ...]) -> str:
        """The number of elements, as a size_t."""
        known = math.prod(size for extent in extents if (size := int_value(extent)) is not None)
        factors = [f"(size_t){self.expr(extent, CAST)}" for extent in extents if int_value(extent) is None]
        return " * ".join([*factors, *([str(known)] if known != 1 or not factors else [])])

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
        self.element_types = {p.sym: self.type_name(p.dtype) for p in self.module.params if p.is_buffer}
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


def element_bytes(type_: Type) -> int:
    """Storage of one element."""
    return type_.dtype.bytes * type_.lanes if isinstance(type_, Vec) else type_.bytes
