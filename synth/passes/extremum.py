"""``extremum``: comparisons that choose the larger or the smaller of two numbers become ``max`` and ``min``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir.dtypes import DType, scalar
from synth.ir.grammar import Binary, Body, Expr, If, Load, Module, Select, Stmt, Store
from synth.ir.traversal import all_exprs, rewrite_exprs, rewrite_stmts
from synth.passes.base import Illegal, Legal, Verdict
from synth.spec import DeviceSpec

# a op b ? a : b
CHOICES = {"lt": "min", "le": "min", "gt": "max", "ge": "max"}
OTHER = {"min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Extremum:
    """Makes reductions of what looks like control flow.

    Before: ``if (m[] < A[i]) { m[] = A[i] }``, ``select(a > b, a, b)``
    After:  ``m[] = max(m[], A[i])``, ``max(a, b)``
    """

    name: ClassVar[str] = "extremum"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Itself where it changes something."""
        return (cls(),) if _changed(module.body) != module.body else ()

    # Of two integers the comparison chooses what min and max give. Of two numbers too; they differ for NaN and in the sign of a zero.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        after = _changed(module.body)
        if after == module.body:
            return Illegal("no comparison chooses one of two numbers")
        return Legal(("reals",)) if _floats(after) > _floats(module.body) else Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return dataclasses.replace(module, body=_changed(module.body))


def _changed(body: Body) -> Body:
    return rewrite_stmts(rewrite_exprs(body, _expr), _stmt)


def _expr(e: Expr) -> Expr:
    return _chosen(e.cond, e.a, e.b) or e if isinstance(e, Select) else e


def _stmt(s: Stmt) -> Stmt:
    match s:
        case If(then=(Store() as store,), orelse=()) if store.mask is None and isinstance(store.value.type, DType):
            kept = Load(store.buf, store.index, store.value.type)
            value = _chosen(s.cond, store.value, kept)
            return s if value is None else dataclasses.replace(store, value=value)
        case _:
            return s


def _chosen(cond: Expr, a: Expr, b: Expr) -> Expr | None:
    """``cond ? a : b`` as an extremum of a and b."""
    if not isinstance(cond, Binary) or cond.op not in CHOICES or not isinstance(cond.type, DType) or scalar(a.type) is DType.BOOL:
        return None
    if (cond.a, cond.b) == (a, b):
        op = CHOICES[cond.op]
    elif (cond.a, cond.b) == (b, a):
        op = OTHER[CHOICES[cond.op]]
    else:
        return None
    # the value that was there comes first, as in other accumulations
    return Binary(op, b, a)


def _floats(body: Body) -> int:
    """Extrema of floats in a body."""
    return sum(isinstance(e, Binary) and e.op in OTHER and scalar(e.type).is_float for e in all_exprs(body))
