"""One order for the operands of commutative operators, so that the spelling of a source makes no difference to its result."""

from __future__ import annotations

import dataclasses

from synth.ir.dtypes import scalar
from synth.ir.grammar import COMMUTATIVE_OPS, Binary, Broadcast, Cast, Const, Expr, Load, Math, Module, Sym, Unary, Var
from synth.ir.traversal import expr_children, module_symbols, rewrite_exprs

Key = tuple[object, ...]
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_RANKS: dict[type, int] = {Load: 0, Var: 1, Math: 2, Unary: 3, Binary: 4, Cast: 5, Broadcast: 6, Const: 8}


# Addition, multiplication, minimum, maximum and equality of floats do not depend on the order of their operands, and evaluating an
# operand has no effect; a > b is b < a. Integers have a canonical form of their own (synth.passes.arithmetic).
def ordered(module: Module) -> Module:
    """The module with the smaller operand first, symbols in the order of their definition."""
    numbers = {sym: number for number, sym in enumerate(module_symbols(module))}
    keys: dict[int, tuple[Expr, Key]] = {}

    def key(e: Expr) -> Key:
        known = keys.get(id(e))
        if known is None or known[0] is not e:
            known = (e, _key(e, [key(c) for c in expr_children(e)], numbers))
            keys[id(e)] = known
        return known[1]

    def one(e: Expr) -> Expr:
        if not isinstance(e, Binary) or not scalar(e.a.type).is_float or key(e.a) <= key(e.b):
            return e
        if e.op in COMMUTATIVE_OPS:
            return Binary(e.op, e.b, e.a)
        return Binary(_FLIPPED[e.op], e.b, e.a) if e.op in _FLIPPED else e

    return dataclasses.replace(module, body=rewrite_exprs(module.body, one))


def _key(e: Expr, children: list[Key], numbers: dict[Sym, int]) -> Key:
    """Size first, then what it is, then which symbol, then the parts."""
    size = 1 + sum(int(str(c[0])) for c in children)
    match e:
        case Load():
            own = str(numbers.get(e.buf, -1)).zfill(6)
        case Var():
            own = str(numbers.get(e.sym, -1)).zfill(6)
        case Const():
            own = repr(e.value)
        case Binary() | Unary():
            own = e.op
        case Math():
            own = e.fn
        case _:
            own = type(e).__name__
    return (size, _RANKS.get(type(e), 7), own, str(e.type), tuple(children))
