"""The textual form: printing. ``synth.ir.parse`` reads it back.

One statement a line; symbols are spelled as sites (``i``, ``i~2``); literals carry their type (``3i32``, ``0.5f32``), so do loads and
casts, so that the text alone determines the module up to the identity of symbols and to source locations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from synth.ir.grammar import (
    Alloc,
    Binary,
    Bitcast,
    Body,
    Break,
    Broadcast,
    Call,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    If,
    Lane,
    Launch,
    Let,
    Load,
    MakeVec,
    Math,
    Module,
    Param,
    Reduce,
    Region,
    Return,
    Select,
    Stmt,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
    While,
)
from synth.ir.traversal import bound_symbols, module_symbols

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "land": "&&", "lor": "||", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
PREFIX = {"neg": "-", "bnot": "~", "lnot": "!"}

Names = Callable[[Sym], str]


def print_module(module: Module) -> str:
    """The whole module; ``synth.ir.parse.parse_module`` reads it back to an equal structure."""
    names = _names(_spelling(module_symbols(module)))
    params = ", ".join(_param(p, names) for p in module.params)
    head = f"module {module.name}({params}) dialect={module.dialect}"
    if module.result is not None:
        head += f" result={print_expr(module.result, names)}"
    if module.assumes:
        head += " assume [" + ", ".join(print_expr(e, names) for e in module.assumes) + "]"
    return "\n".join([head + " {", *_body(module.body, names, 1), "}"]) + "\n"


def print_body(body: Body) -> str:
    """A body on its own; free symbols print by their bare names."""
    return "\n".join(_body(body, _names(_spelling(bound_symbols(body))), 0)) + "\n"


def print_expr(expr: Expr, names: Names = lambda sym: sym.name) -> str:
    """One expression; without ``names``, symbols print by their bare names."""
    match expr:
        case Const():
            return _literal(expr)
        case Var():
            return f"{names(expr.sym)}:{expr.type}"
        case Load():
            mask = f" if {print_expr(expr.mask, names)}" if expr.mask is not None else ""
            return f"{names(expr.buf)}[{_list(expr.index, names)}]:{expr.type}" + (f"{{{mask.strip()}}}" if mask else "")
        case Unary():
            return f"{PREFIX[expr.op]}({print_expr(expr.a, names)})"
        case Binary(op="min" | "max"):
            return f"{expr.op}({print_expr(expr.a, names)}, {print_expr(expr.b, names)})"
        case Binary():
            return f"({print_expr(expr.a, names)} {INFIX[expr.op]} {print_expr(expr.b, names)})"
        case Cast():
            return f"cast<{expr.type}>({print_expr(expr.a, names)})"
        case Bitcast():
            return f"bitcast<{expr.type}>({print_expr(expr.a, names)})"
        case Select():
            return f"select({_list((expr.cond, expr.a, expr.b), names)})"
        case Math():
            return f"math.{expr.fn}<{expr.type}>({_list(expr.args, names)})"
        case Broadcast():
            return f"broadcast<{expr.lanes}>({print_expr(expr.a, names)})"
        case MakeVec():
            return f"vec({_list(expr.elems, names)})"
        case Lane():
            return f"lane<{expr.i}>({print_expr(expr.a, names)})"
        case Reduce():
            return f"reduce.{expr.op}({print_expr(expr.a, names)})"


def _spelling(symbols: object) -> dict[Sym, str]:
    counts: dict[str, int] = {}
    found: dict[Sym, str] = {}
    for sym in symbols:  # type: ignore[attr-defined]
        counts[sym.name] = counts.get(sym.name, 0) + 1
        found[sym] = sym.name if counts[sym.name] == 1 else f"{sym.name}~{counts[sym.name]}"
    return found


def _names(spelling: Mapping[Sym, str]) -> Names:
    return lambda sym: spelling.get(sym, sym.name)


def _list(exprs: tuple[Expr, ...], names: Names) -> str:
    return ", ".join(print_expr(e, names) for e in exprs)


def _literal(c: Const) -> str:
    if isinstance(c.value, bool):
        return "true" if c.value else "false"
    text = repr(c.value) if c.type.is_float else str(int(c.value))
    return f"{text}{c.type}" if not text.startswith("-") else f"({text}{c.type})"


def _param(p: Param, names: Names) -> str:
    if p.shape is None:
        return f"{names(p.sym)}: {p.dtype}"
    const = " const" if p.const else ""
    return f"{names(p.sym)}: {p.dtype}[{_list(p.shape, names)}] {p.space.value} {p.role.value}{const}"


def _region(r: Region, names: Names) -> str:
    extent = f" of [{_list(r.extent, names)}]" if r.extent else ""
    return f"&{names(r.buf)}[{_list(r.index, names)}]{extent}"


def _body(body: Body, names: Names, depth: int) -> list[str]:
    return [line for stmt in body for line in _stmt(stmt, names, depth)]


def _stmt(s: Stmt, names: Names, depth: int) -> list[str]:
    pad = "  " * depth

    def show(e: Expr) -> str:
        return print_expr(e, names)

    def nested(head: str, *parts: tuple[str, Body]) -> list[str]:
        lines = [f"{pad}{head} {{"]
        for index, (separator, part) in enumerate(parts):
            if index:
                lines.append(f"{pad}}} {separator} {{")
            lines += _body(part, names, depth + 1)
        return [*lines, f"{pad}}}"]

    match s:
        case Let():
            return [f"{pad}let {names(s.sym)} = {show(s.value)}"]
        case Alloc():
            init = f" = [{_list(s.init, names)}]" if s.init is not None else ""
            return [f"{pad}alloc {names(s.sym)}: {s.dtype}[{_list(s.shape, names)}] {s.space.value}{init}"]
        case Store():
            mask = f" if {show(s.mask)}" if s.mask is not None else ""
            return [f"{pad}{names(s.buf)}[{_list(s.index, names)}] = {show(s.value)}{mask}"]
        case For():
            axis = f".{s.axis.value}" if s.axis else ""
            return nested(f"for{axis} {names(s.sym)}: {s.dtype} in {show(s.lo)}..{show(s.hi)} step {show(s.step)}", ("", s.body))
        case While():
            return nested(f"while {show(s.cond)}", ("", s.body))
        case If():
            return nested(f"if {show(s.cond)}", ("", s.then), *((("else", s.orelse),) if s.orelse else ()))
        case Sync():
            return [f"{pad}sync {s.scope.value}"]
        case Call():
            dests = ", ".join(_region(d, names) for d in s.dests)
            args = ", ".join(_region(a, names) if isinstance(a, Region) else show(a) for a in s.args)
            return [f"{pad}call {s.op}({dests}; {args})"]
        case Launch():
            return nested(f"launch {s.kernel}", ("", s.body))
        case Break():
            return [f"{pad}break"]
        case Continue():
            return [f"{pad}continue"]
        case Return():
            return [f"{pad}return"]
