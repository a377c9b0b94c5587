"""Printing the textual form; ``synth.ir.parser`` reads it back, ``synth.ir.text`` describes it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable

import numpy as np

from synth.ir.dtypes import DType
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
from synth.ir.rounding import round_float
from synth.ir.traversal import bound_symbols, module_symbols

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "land": "&&", "lor": "||", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
PREFIX = {"neg": "-", "bnot": "~", "lnot": "!"}
IDENTIFIER = r"[A-Za-z_]\w*(?:\.\w+)*"

Names = Callable[[Sym], str]

_PLAIN = re.compile(IDENTIFIER, re.ASCII)


def print_module(module: Module) -> str:
    """The whole module; ``parse_module`` reads it back to an equal structure."""
    return print_named(module, _names(module_symbols(module)))


def print_named(module: Module, names: Names) -> str:
    """The whole module with symbols spelled by ``names``."""
    params = ", ".join(_param(p, names) for p in module.params)
    head = f"module {quoted(module.name)}({params}) dialect={quoted(module.dialect)}"
    if module.result is not None:
        head += f" result={print_expr(module.result, names)}"
    if module.warp_size != 32:
        head += f" warp={module.warp_size}"
    if module.assumes:
        head += f" assume [{_list(module.assumes, names)}]"
    return "\n".join([head + " {", *_body(module.body, names, 1), "}"]) + "\n"


def print_body(body: Body) -> str:
    """A body on its own, for messages; free symbols print by their bare names."""
    return "\n".join(_body(body, _names(bound_symbols(body)), 0)) + "\n"


def print_expr(expr: Expr, names: Names = lambda sym: quoted(sym.name)) -> str:
    """One expression; without ``names``, symbols print by their bare names."""
    match expr:
        case Const():
            return _literal(expr)
        case Var():
            return f"{names(expr.sym)}:{expr.type}"
        case Load():
            mask = f"@{print_expr(expr.mask, names)}" if expr.mask is not None else ""
            return f"{names(expr.buf)}[{_list(expr.index, names)}]:{expr.type}{mask}"
        case Unary():
            return f"{PREFIX.get(expr.op, expr.op)}({print_expr(expr.a, names)})"
        case Binary(op="min" | "max"):
            return f"{expr.op}({print_expr(expr.a, names)}, {print_expr(expr.b, names)})"
        case Binary():
            return f"({print_expr(expr.a, names)} {INFIX.get(expr.op, expr.op)} {print_expr(expr.b, names)})"
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


def quoted(name: str) -> str:
    """A name as it stands in the text: bare when it is an identifier (dots allowed), else a JSON string."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _names(symbols: Iterable[Sym]) -> Names:
    counts: dict[str, int] = {}
    spelling: dict[Sym, str] = {}
    for sym in symbols:
        counts[sym.name] = counts.get(sym.name, 0) + 1
        spelling[sym] = quoted(sym.name) + (f"~{counts[sym.name]}" if counts[sym.name] > 1 else "")
    return lambda sym: spelling.get(sym) or quoted(sym.name)


def _list(exprs: tuple[Expr, ...], names: Names) -> str:
    return ", ".join(print_expr(e, names) for e in exprs)


def _literal(c: Const) -> str:
    if c.type is DType.BOOL:
        return "true" if c.value else "false"
    if not c.type.is_float:
        return f"{int(c.value)}{c.type}"
    value = float(c.value)
    if not math.isfinite(value):
        return f"{c.type}({'nan' if math.isnan(value) else 'inf' if value > 0 else '-inf'})"
    return f"{_shortest(value, c.type)}{c.type}"


def _shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that rounds to the value in its type; all digits of the double where it is not of the type."""
    if dtype is DType.F32:
        with np.errstate(over="ignore"):
            text = repr(float(str(np.float32(value))))
        if round_float(float(text), dtype) == value:
            return text
    return repr(value)


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

    def nested(head: str, body: Body, orelse: Body = ()) -> list[str]:
        middle = [f"{pad}}} else {{", *_body(orelse, names, depth + 1)] if orelse else []
        return [f"{pad}{head} {{", *_body(body, names, depth + 1), *middle, f"{pad}}}"]

    match s:
        case Let():
            return [f"{pad}let {names(s.sym)} = {show(s.value)}"]
        case Alloc():
            init = f" = [{_list(s.init, names)}]" if s.init is not None else ""
            return [f"{pad}alloc {names(s.sym)}: {s.dtype}[{_list(s.shape, names)}] {s.space.value}{init}"]
        case Store():
            mask = f"@{show(s.mask)}" if s.mask is not None else ""
            return [f"{pad}{names(s.buf)}[{_list(s.index, names)}]{mask} = {show(s.value)}"]
        case For():
            axis = f".{s.axis.value}" if s.axis else ""
            return nested(f"for{axis} {names(s.sym)}: {s.dtype} in {show(s.lo)}..{show(s.hi)} step {show(s.step)}", s.body)
        case While():
            return nested(f"while {show(s.cond)}", s.body)
        case If():
            return nested(f"if {show(s.cond)}", s.then, s.orelse)
        case Sync():
            return [f"{pad}sync {s.scope.value}"]
        case Call():
            dests = ", ".join(_region(d, names) for d in s.dests)
            args = ", ".join(_region(a, names) if isinstance(a, Region) else show(a) for a in s.args)
            return [f"{pad}call {s.op}({dests}; {args})"]
        case Launch():
            return nested(f"launch {quoted(s.kernel)}", s.body)
        case Break():
            return [f"{pad}break"]
        case Continue():
            return [f"{pad}continue"]
        case Return():
            return [f"{pad}return"]
