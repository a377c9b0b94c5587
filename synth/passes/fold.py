"""Accumulations ``acc = acc op e`` that the iterations of a loop make, in any order."""

from __future__ import annotations

from dataclasses import dataclass

from synth.ir.dtypes import DType, Vec
from synth.ir.grammar import Binary, Const, Expr, For, Store, Sym
from synth.ir.traversal import walk
from synth.passes.reduction_merge import IDENTITY, identity


@dataclass(frozen=True, slots=True)
class Fold:
    """``buf[index]`` is only accumulated into, by one operator."""

    buf: Sym
    index: tuple[Expr, ...]
    op: str
    dtype: DType

    @property
    def identity(self) -> Const:
        return identity(self.op, self.dtype)

    @property
    def exact(self) -> bool:
        """Whether the order of the accumulations does not matter at all."""
        return not self.dtype.is_float

    def combined(self, a: Expr, b: Expr) -> Expr:
        return Binary(self.op, a, b)


def folds_of(loop: For, reductions: tuple[tuple[Sym, str], ...]) -> tuple[Fold, ...] | str:
    """The accumulations of a loop of which the analysis says that they are some, or why they cannot be spread over threads."""
    found: list[Fold] = []
    for buf, op in reductions:
        stores = [s for s in walk(loop.body) if isinstance(s, Store) and s.buf == buf]
        indexes = {s.index for s in stores}
        kind = stores[0].value.type
        if op not in IDENTITY:
            return f"accumulation into '{buf.name}' by {op}"
        if isinstance(kind, Vec) or len(indexes) != 1:
            return f"'{buf.name}' is no single number that iterations of '{loop.sym.name}' accumulate into"
        found.append(Fold(buf, stores[0].index, op, kind))
    return tuple(found)
