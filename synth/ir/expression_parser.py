"""Reading the expressions of the textual form; ``synth.ir.parser`` reads statements and modules."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from synth.errors import SourceError
from synth.ir.dtypes import DType, Type, Vec
from synth.ir.grammar import Binary, Bitcast, Broadcast, Cast, Const, Expr, Lane, Load, MakeVec, Math, Reduce, Select, Sym, Unary, Var
from synth.ir.lexer import Token, place
from synth.ir.printer import INFIX, PREFIX
from synth.ir.rounding import round_float

DEPTH_LIMIT = 200  # four Python frames a level
_OPERATORS = {text: op for op, text in INFIX.items()}
_PREFIXES = {text: op for op, text in PREFIX.items()}
_DTYPES = {d.value: d for d in DType}


@dataclass(slots=True)
class ExpressionParser:
    """Reads tokens, symbols, types and expressions. ``symbols`` are those bound so far, by name and number."""

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
        if self.depth > DEPTH_LIMIT:
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
