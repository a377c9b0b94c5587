"""Executing code whose control is concrete on symbolic values: which initial values does each cell combine in the end?

Loop bounds, conditions and indexes must evaluate to numbers (block sizes are concrete); the values in memory are symbols. A value is a
number, a ``Fold``, ``MIXED`` or ``UNKNOWN``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from synth.ir import builder as b
from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Alloc, Binary, Body, Cast, Const, Expr, For, If, Let, Load, Select, Stmt, Store, Sym, Unary, Var, While
from synth.ir.traversal import bodies, expr_children, read_buffers, written_buffers
from synth.passes.recovery_refit import evaluate_binary, wrap_int

Cell = tuple[Sym, tuple[int, ...]]

FOLD_OPS = frozenset({"add", "mul", "max", "min"})
_IDENTITY = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}


class Unknown:
    """A value about which nothing is known."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = Unknown("UNKNOWN")
# some combination of folds that is no fold itself: lanes that a shuffle reduction leaves with partial results
MIXED = Unknown("MIXED")


@dataclass(frozen=True, slots=True)
class Fold:
    """``op`` over the initial values of ``cells``, each once, and over ``const`` (the identity where there is none).

    ``op`` is ``""`` for the initial value of one cell.
    """

    op: str
    cells: frozenset[Cell]
    const: float | None = None


Value = int | float | bool | Fold | Unknown


def initial(cell: Cell) -> Fold:
    return Fold("", frozenset((cell,)))


def _as_fold(value: Value, op: str) -> Fold | Unknown:
    if isinstance(value, Fold):
        return value if value.op in ("", op) else MIXED
    if isinstance(value, Unknown):
        return value
    return Fold(op, frozenset(), None if value == _IDENTITY[op] else value)


def combine(op: str, x: Value, y: Value) -> Value:
    """``op`` of two values, associative and commutative over the reals; MIXED when it is no fold by one operator over distinct cells."""
    first, second = _as_fold(x, op), _as_fold(y, op)
    if isinstance(first, Unknown) or isinstance(second, Unknown):
        return UNKNOWN if UNKNOWN in (first, second) else MIXED
    if op in ("add", "mul") and not first.cells.isdisjoint(second.cells):
        return MIXED
    cells = first.cells | second.cells
    const = _combine_consts(op, first.const, second.const)
    if not cells:
        return _IDENTITY[op] if const is None else const
    return Fold("" if const is None and len(cells) == 1 else op, cells, const)


def _combine_consts(op: str, x: float | None, y: float | None) -> float | None:
    if x is None or y is None:
        return y if x is None else x
    match op:
        case "add":
            return x + y
        case "mul":
            return x * y
        case "max":
            return max(x, y)
        case _:
            return min(x, y)


class NotConcrete(Exception):
    """Control or an index is not a number, or the budget is spent."""


@dataclass(slots=True)
class Machine:
    """State of a symbolic execution.

    ``strict``: raise NotConcrete rather than store UNKNOWN. ``on_read``/``on_write`` see every access of a cell. ``stores`` counts stores.
    """

    budget: int
    strict: bool = True
    cells: dict[Cell, Value] = field(default_factory=dict)
    values: dict[Sym, Value] = field(default_factory=dict)
    stores: int = 0
    on_read: Callable[[Cell], None] | None = None
    on_write: Callable[[Cell], None] | None = None

    def run(self, body: Body) -> None:
        """Raises NotConcrete."""
        for stmt in body:
            self._statement(stmt)

    def _spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise NotConcrete

    def _statement(self, stmt: Stmt) -> None:
        self._spend()
        match stmt:
            case Let():
                self.values[stmt.sym] = self.value(stmt.value)
            case Alloc() if stmt.init is None and not isinstance(stmt.dtype, Vec):
                self._uninitialise(stmt)
            case Store() if stmt.mask is None and (not stmt.index or not isinstance(stmt.value.type, Vec)):
                self._store(stmt)
            case If():
                self.run(stmt.then if self.number(stmt.cond) else stmt.orelse)
            case For():
                for i in range(self.number(stmt.lo), self.number(stmt.hi), self.number(stmt.step)):
                    self.values[stmt.sym] = i
                    self.run(stmt.body)
            case While():
                while self.number(stmt.cond):
                    self._spend()
                    self.run(stmt.body)
            case _:
                raise NotConcrete

    def _uninitialise(self, alloc: Alloc) -> None:
        if not alloc.shape:
            self.cells.pop((alloc.sym, ()), None)
            return
        for cell in [c for c in self.cells if c[0] == alloc.sym]:
            del self.cells[cell]

    def _store(self, stmt: Store) -> None:
        value = self.value(stmt.value)
        if self.strict and value is UNKNOWN:
            raise NotConcrete
        cell = (stmt.buf, tuple(self.number(e) for e in stmt.index))
        self.stores += 1
        self.cells[cell] = value
        if self.on_write is not None:
            self.on_write(cell)

    def number(self, expr: Expr) -> int:
        """The concrete integer value of ``expr``."""
        value = self.value(expr)
        if isinstance(value, Fold | Unknown | float):
            raise NotConcrete
        return int(value)

    def value(self, expr: Expr) -> Value:
        match expr:
            case Const():
                return expr.value
            case Var():
                return self.values.get(expr.sym, UNKNOWN)
            case Load() if expr.mask is None and not isinstance(expr.type, Vec):
                return self._load(expr)
            case Unary():
                return self._unary(expr)
            case Binary("land" | "lor", x, y):
                first = self.value(x)
                if isinstance(first, Fold | Unknown):
                    return self._seen(expr)
                return self.value(y) if bool(first) == (expr.op == "land") else bool(first)
            case Binary():
                return self._binary(expr)
            case Cast():
                value = self.value(expr.a)
                if isinstance(expr.type, DType) and isinstance(value, int) and not expr.type.is_float:
                    return wrap_int(int(value), expr.type)
                if isinstance(value, int | float) and isinstance(expr.type, DType) and expr.type.is_float:
                    return float(value)
                return value if expr.type == expr.a.type else UNKNOWN
            case Select():
                return self._select(expr)
            case Load():
                raise NotConcrete  # several cells at once
            case _:
                return self._seen(expr)

    def _seen(self, expr: Expr) -> Unknown:
        """An expression about whose value nothing is known; what it may read is read."""
        for child in expr_children(expr):
            self.value(child)
        return UNKNOWN

    def _load(self, expr: Load) -> Value:
        index = tuple(self.number(e) for e in expr.index)
        cell = (expr.buf, index)
        if self.on_read is not None:
            self.on_read(cell)
        return self.cells.get(cell, initial(cell))

    def _unary(self, expr: Unary) -> Value:
        value = self.value(expr.a)
        if isinstance(value, Fold | Unknown) or not isinstance(expr.type, DType):
            return UNKNOWN
        if expr.op == "neg":
            return -value if expr.type.is_float else wrap_int(-int(value), expr.type)
        return (not value) if expr.op == "lnot" else wrap_int(~int(value), expr.type)

    def _binary(self, expr: Binary) -> Value:
        x, y = self.value(expr.a), self.value(expr.b)
        kind = expr.a.type
        if not isinstance(kind, DType):
            return UNKNOWN
        if isinstance(x, Fold | Unknown) or isinstance(y, Fold | Unknown) or kind.is_float:
            return combine(expr.op, x, y) if expr.op in FOLD_OPS else UNKNOWN
        value = evaluate_binary(expr.op, int(x), int(y), kind)
        if value is None:
            raise NotConcrete
        return wrap_int(value, expr.type) if isinstance(expr.type, DType) else UNKNOWN

    # Over the reals (a > b ? a : b) is max(a, b), and so for the other comparisons.
    def _select(self, expr: Select) -> Value:
        cond = self.value(expr.cond)
        if not isinstance(cond, Fold | Unknown):
            return self.value(expr.a if cond else expr.b)
        if isinstance(expr.cond, Binary) and expr.cond.op in ("lt", "le", "gt", "ge"):
            less = expr.cond.op in ("lt", "le")
            if (expr.cond.a, expr.cond.b) == (expr.a, expr.b):
                return combine("min" if less else "max", self.value(expr.a), self.value(expr.b))
            if (expr.cond.a, expr.cond.b) == (expr.b, expr.a):
                return combine("max" if less else "min", self.value(expr.a), self.value(expr.b))
        return self._seen(expr)


def touches(stmt: Stmt, buffers: frozenset[Sym]) -> bool:
    return bool(buffers & (read_buffers((stmt,)) | written_buffers((stmt,))))


_WHILE_TRIPS = 12


def static_cost(stmt: Stmt) -> int:
    """A rough number of statements that ``stmt`` executes, from its literal loop bounds: whether running it is worth a try."""
    inner = sum(static_cost(s) for body in bodies(stmt) for s in body)
    if isinstance(stmt, For):
        hi, lo, step = (b.int_value(e) for e in (stmt.hi, stmt.lo, stmt.step))
        return 1 + inner * max(1, ((hi or 0) - (lo or 0)) // (step or 1))
    return 1 + inner * (_WHILE_TRIPS if isinstance(stmt, While) else 1)
