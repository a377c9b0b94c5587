"""Reading the textual form (``synth.ir.text``). Symbols get new identities; names and types are checked, the rest is the verifier's."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from synth.errors import SourceError
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import (
    Alloc,
    Axis,
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
    Role,
    Scope,
    Select,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
    Unary,
    Var,
    While,
)
from synth.ir.lexer import Token, place, tokens
from synth.ir.printer import INFIX, PREFIX
from synth.ir.rounding import round_float

_OPERATORS = {text: op for op, text in INFIX.items()}
_PREFIXES = {text: op for op, text in PREFIX.items()}
_DTYPES = {d.value: d for d in DType}
_AXES = {a.value: a for a in Axis}
_DEPTH_LIMIT = 400


def parse_module(text: str) -> Module:
    """Reads one module. Raises SourceError with line and column of the text at the first thing that is not understood."""
    parser = _Parser(text, tokens(text))
    module = parser.module()
    parser.expect_end()
    return module


@dataclass(slots=True)
class _Parser:
    text: str
    tokens: list[Token]
    at: int = 0
    depth: int = 0
    symbols: dict[tuple[str, int], Sym] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------------ tokens

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def fail(self, message: str, token: Token | None = None) -> SourceError:
        return SourceError(message, place(self.text, (token or self.peek()).offset))

    def accept(self, text: str) -> bool:
        if self.peek().text == text and self.peek().kind != "string":
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.fail(f"expected '{text}' but found '{self.peek().text or 'end of text'}'")

    def expect_end(self) -> None:
        if self.peek().kind != "end":
            raise self.fail(f"unexpected '{self.peek().text}' after the module")

    def name(self) -> str:
        token = self.next()
        if token.kind == "name":
            return token.text
        if token.kind == "string":
            return str(json.loads(token.text))
        raise self.fail(f"expected a name but found '{token.text}'", token)

    def word(self, choices: dict[str, object], what: str) -> object:
        token = self.next()
        if token.text not in choices:
            raise self.fail(f"'{token.text}' is no {what}", token)
        return choices[token.text]

    # ----------------------------------------------------------------------------------------------------- symbols

    def site(self) -> tuple[str, int]:
        """A name and its number in program order."""
        name = self.name()
        return name, self.whole_number() if self.accept("~") else 1

    def bind(self) -> Sym:
        token = self.peek()
        site = self.site()
        if site in self.symbols:
            raise self.fail(f"symbol '{site[0]}' is bound twice", token)
        self.symbols[site] = Sym(site[0])
        return self.symbols[site]

    def use(self) -> Sym:
        token = self.peek()
        site = self.site()
        if site not in self.symbols:
            raise self.fail(f"symbol '{site[0]}' is not bound", token)
        return self.symbols[site]

    # ------------------------------------------------------------------------------------------------------- types

    def whole_number(self) -> int:
        token = self.next()
        if token.kind != "number" or not token.text.isdigit():
            raise self.fail(f"expected a whole number but found '{token.text}'", token)
        return int(token.text)

    def type(self) -> Type:
        token = self.next()
        base, _, count = token.text.partition("x")
        if base not in _DTYPES or (count and not count.isdigit()) or token.text.endswith("x"):
            raise self.fail(f"'{token.text}' is no type", token)
        return Vec(_DTYPES[base], int(count)) if count else _DTYPES[base]

    def dtype(self) -> DType:
        token = self.peek()
        type_ = self.type()
        if isinstance(type_, Vec):
            raise self.fail("a scalar type is expected here", token)
        return type_

    # ------------------------------------------------------------------------------------------------- expressions

    def exprs(self, close: str) -> tuple[Expr, ...]:
        found: list[Expr] = []
        while not self.accept(close):
            if found:
                self.expect(",")
            found.append(self.expr())
        return tuple(found)

    def argument(self) -> Expr:
        self.expect("(")
        value = self.expr()
        self.expect(")")
        return value

    def expr(self) -> Expr:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise self.fail("the expression is nested too deeply")
        try:
            return self.operand()
        finally:
            self.depth -= 1

    def operand(self) -> Expr:
        token = self.peek()
        if token.kind == "number" or (token.text == "-" and self.peek(1).kind == "number"):
            return self.number()
        if token.kind == "sign":
            return self.signed()
        following = self.peek(1).text
        if token.kind == "name" and token.text in ("true", "false") and following not in (":", "[", "~"):
            self.next()
            return Const(token.text == "true", DType.BOOL)
        if token.kind == "name" and following in ("(", "<"):
            return self.function()
        sym = self.use()
        if self.accept(":"):
            return Var(sym, self.type())
        self.expect("[")
        index = self.exprs("]")
        self.expect(":")
        type_ = self.type()
        return Load(sym, index, type_, self.expr() if self.accept("@") else None)

    def number(self) -> Const:
        sign = "-" if self.accept("-") else ""
        token = self.next()
        dtype = self.dtype()
        if dtype.is_float:
            return Const(round_float(float(sign + token.text), dtype), dtype)
        if not token.text.isdigit():
            raise self.fail(f"'{token.text}' is no integer", token)
        return Const(int(sign + token.text), dtype)

    def signed(self) -> Expr:
        token = self.next()
        if token.text in _PREFIXES:
            return Unary(_PREFIXES[token.text], self.argument())
        if token.text != "(":
            raise self.fail(f"expected an expression but found '{token.text}'", token)
        a = self.expr()
        operator = self.next()
        if operator.text not in _OPERATORS:
            raise self.fail(f"'{operator.text}' is no operator", operator)
        b = self.expr()
        self.expect(")")
        return Binary(_OPERATORS[operator.text], a, b)

    def function(self) -> Expr:
        token = self.next()
        name = token.text
        if name in _DTYPES:
            return self.special(_DTYPES[name])
        if name in ("min", "max", "select"):
            return self.plain_function(name, token)
        if name == "vec":
            self.expect("(")
            elems = self.exprs(")")
            if not elems:
                raise self.fail("a vector needs lanes", token)
            return MakeVec(elems)
        if name.startswith("reduce."):
            return Reduce(name.removeprefix("reduce."), self.argument())
        self.expect("<")
        if name in ("broadcast", "lane"):
            count = self.whole_number()
            self.expect(">")
            return Broadcast(self.argument(), count) if name == "broadcast" else Lane(self.argument(), count)
        type_ = self.type()
        self.expect(">")
        if name in ("cast", "bitcast"):
            return Cast(self.argument(), type_) if name == "cast" else Bitcast(self.argument(), type_)
        if not name.startswith("math."):
            raise self.fail(f"'{name}' is no function", token)
        self.expect("(")
        return Math(name.removeprefix("math."), self.exprs(")"), type_)

    def special(self, dtype: DType) -> Const:
        self.expect("(")
        sign = "-" if self.accept("-") else ""
        token = self.next()
        if token.text not in ("inf", "nan") or not dtype.is_float:
            raise self.fail(f"'{token.text}' is no literal of {dtype}", token)
        self.expect(")")
        return Const(float(sign + token.text), dtype)

    def plain_function(self, name: str, token: Token) -> Expr:
        self.expect("(")
        args = self.exprs(")")
        if len(args) != (3 if name == "select" else 2):
            raise self.fail(f"{name} has the wrong number of arguments", token)
        return Select(*args) if name == "select" else Binary(name, *args)

    # -------------------------------------------------------------------------------------------------- statements

    def body(self) -> Body:
        self.expect("{")
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
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
        assumes: tuple[Expr, ...] = ()
        if self.accept("assume"):
            self.expect("[")
            assumes = self.exprs("]")
        return Module(name, params, self.body(), dialect, assumes, result)

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
