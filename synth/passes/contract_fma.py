"""``contract_fma``: products that are added become fused multiply-adds."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir.dtypes import DType, Vec, scalar
from synth.ir.grammar import Binary, Expr, Math, Module, Unary
from synth.ir.traversal import rewrite_exprs
from synth.passes.base import Legal, Verdict
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class ContractFma:
    """Rounds once where the source rounds twice; vectors only, since compilers contract scalars themselves.

    Before: ``acc = acc + a * b``    After: ``acc = fma(a, b, acc)``
    """

    name: ClassVar[str] = "contract_fma"

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        """Itself where there is something to contract."""
        return (cls(),) if cls().apply(module, spec) != module else ()

    # fma(a, b, c) = a * b + c over the reals.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        return Legal(("reals",))

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        return dataclasses.replace(module, body=rewrite_exprs(module.body, _contracted))


def _contracted(e: Expr) -> Expr:
    if (
        not isinstance(e, Binary)
        or e.op not in ("add", "sub")
        or not isinstance(e.type, Vec)
        or scalar(e.type) not in (DType.F32, DType.F64)
    ):
        return e
    if _is_product(e.b):
        a, b = e.b.a, e.b.b  # type: ignore[union-attr]
        return Math("fma", (a if e.op == "add" else Unary("neg", a), b, e.a), e.type)
    if _is_product(e.a):
        rest = e.b if e.op == "add" else Unary("neg", e.b)
        return Math("fma", (e.a.a, e.a.b, rest), e.type)  # type: ignore[union-attr]
    return e


def _is_product(e: Expr) -> bool:
    return isinstance(e, Binary) and e.op == "mul"
