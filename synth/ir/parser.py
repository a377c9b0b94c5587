"""Reading the textual form (``synth.ir.text``). Symbols get new identities; names and types are checked, the rest is the verifier's."""

from __future__ import annotations

from dataclasses import dataclass

from synth.ir.expression_parser import DEPTH_LIMIT, ExpressionParser
from synth.ir.grammar import (
    Alloc,
    Axis,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Expr,
    For,
    If,
    Launch,
    Let,
    Module,
    Param,
    Region,
    Return,
    Role,
    Scope,
    Space,
    Stmt,
    Store,
    Sync,
    While,
)
from synth.ir.lexer import tokens

_AXES = {a.value: a for a in Axis}


def parse_module(text: str) -> Module:
    """Reads one module. Raises SourceError with line and column of the text at the first thing that is not understood."""
    parser = _Parser(text, tokens(text))
    module = parser.module()
    parser.expect_end()
    return module


@dataclass(slots=True)
class _Parser(ExpressionParser):
    # -------------------------------------------------------------------------------------------------- statements

    def body(self) -> Body:
        self.expect("{")
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise self.fail("statements are nested too deeply")
        found: list[Stmt] = []
        while not self.accept("}"):
            found.append(self.stmt())
        self.depth -= 1
        return tuple(found)

    def stmt(self) -> Stmt:
        token = self.peek()
        if self.peek(1).text in ("[", "~") or token.kind == "string":
            return self.store()
        self.next()
        keyword, _, axis = token.text.partition(".")
        match keyword:
            case "for" if not axis or axis in _AXES:
                return self.loop(_AXES[axis] if axis else None)
            case "let":
                sym = self.bind()
                self.expect("=")
                return Let(sym, self.expr())
            case "alloc":
                return self.alloc()
            case "while":
                return While(self.expr(), self.body())
            case "if":
                return If(self.expr(), self.body(), self.body() if self.accept("else") else ())
            case "sync":
                return Sync(self.word({s.value: s for s in Scope}, "scope"))  # type: ignore[arg-type]
            case "call":
                return self.call()
            case "launch":
                return Launch(self.name(), self.body())
            case "break":
                return Break()
            case "continue":
                return Continue()
            case "return":
                return Return()
        raise self.fail(f"'{token.text}' starts no statement", token)

    def store(self) -> Store:
        buf = self.use()
        self.expect("[")
        index = self.exprs("]")
        mask = self.expr() if self.accept("@") else None
        self.expect("=")
        return Store(buf, index, self.expr(), mask)

    def loop(self, axis: Axis | None) -> For:
        sym = self.bind()
        self.expect(":")
        dtype = self.dtype()
        self.expect("in")
        lo = self.expr()
        self.expect("..")
        hi = self.expr()
        self.expect("step")
        step = self.expr()
        return For(sym, dtype, lo, hi, step, self.body(), axis)

    def alloc(self) -> Alloc:
        sym = self.bind()
        self.expect(":")
        type_ = self.type()
        self.expect("[")
        shape = self.exprs("]")
        space = self.space()
        init = self.literals() if self.accept("=") else None
        return Alloc(sym, type_, shape, space, init)

    def literals(self) -> tuple[Const, ...]:
        self.expect("[")
        start = self.peek()
        values = self.exprs("]")
        consts = tuple(v for v in values if isinstance(v, Const))
        if len(consts) != len(values):
            raise self.fail("initial values are literals", start)
        return consts

    def space(self) -> Space:
        return self.word({s.value: s for s in Space}, "memory space")  # type: ignore[return-value]

    def call(self) -> Call:
        op = self.name()
        self.expect("(")
        dests: list[Region] = []
        while not self.accept(";"):
            if dests:
                self.expect(",")
            dests.append(self.region())
        args: list[Expr | Region] = []
        while not self.accept(")"):
            if args:
                self.expect(",")
            args.append(self.region() if self.peek().text == "&" else self.expr())
        return Call(op, tuple(dests), tuple(args))

    def region(self) -> Region:
        self.expect("&")
        buf = self.use()
        self.expect("[")
        index = self.exprs("]")
        if not self.accept("of"):
            return Region(buf, index)
        self.expect("[")
        return Region(buf, index, self.exprs("]"))

    # ------------------------------------------------------------------------------------------------------ module

    def module(self) -> Module:
        self.expect("module")
        name = self.name()
        params = self.params()
        self.expect("dialect")
        self.expect("=")
        dialect = self.name()
        result = None
        if self.accept("result"):
            self.expect("=")
            token = self.peek()
            value = self.expr()
            if not isinstance(value, Const):
                raise self.fail("the result is a literal", token)
            result = value
        warp_size = self._warp_size()
        assumes: tuple[Expr, ...] = ()
        if self.accept("assume"):
            self.expect("[")
            assumes = self.exprs("]")
        return Module(name, params, self.body(), dialect, assumes, result, warp_size)

    def _warp_size(self) -> int:
        if not self.accept("warp"):
            return 32
        self.expect("=")
        token = self.peek()
        size = int(token.text) if token.text.isdigit() else 0
        if size < 1 or size > 64 or size & (size - 1):
            raise self.fail("a warp has a power of two of lanes, at most 64", token)
        self.at += 1
        return size

    def params(self) -> tuple[Param, ...]:
        """Extents may name parameters that come later, so the names are bound first."""
        self.expect("(")
        start = self.at
        depth = 0
        expecting = True
        while depth or self.peek().text != ")" or self.peek().kind == "string":
            token = self.peek()
            if token.kind == "end":
                raise self.fail("the parameter list does not end")
            if expecting:
                self.bind()
                expecting = False
                continue
            if token.kind == "sign":
                depth += (token.text in ("[", "(", "{")) - (token.text in ("]", ")", "}"))
            expecting = depth == 0 and token.text == "," and token.kind == "sign"
            self.at += 1
        self.at = start
        found: list[Param] = []
        while not self.accept(")"):
            if found:
                self.expect(",")
            found.append(self.param())
        return tuple(found)

    def param(self) -> Param:
        sym = self.use()
        self.expect(":")
        dtype = self.dtype()
        if not self.accept("["):
            return Param(sym, dtype)
        shape = self.exprs("]")
        space = self.space()
        role = self.word({r.value: r for r in Role}, "role")
        return Param(sym, dtype, shape, space, role, self.accept("const"))  # type: ignore[arg-type]
