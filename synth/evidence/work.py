"""How many statements a module executes, roughly: enough to keep tests within a time that a user waits."""

from __future__ import annotations

from synth.evidence.sizes import Scalars, try_value
from synth.ir.grammar import Body, For, If, Let, Module, Sym, While
from synth.ir.traversal import bodies

UNKNOWN_TRIPS = 16


def estimated_work(module: Module, scalars: Scalars) -> int:
    """Statements executed for given values of the scalar parameters. Loops of unknown length count ``UNKNOWN_TRIPS`` times, of
    two branches the longer one counts; a bound that depends on an outer loop is taken at that loop's first iteration."""
    return _work(module.body, scalars, {})


def _work(body: Body, scalars: Scalars, known: dict[Sym, int]) -> int:
    total = 0
    for stmt in body:
        total += 1
        match stmt:
            case Let():
                value = try_value(stmt.value, scalars, known)
                if value is not None:
                    known[stmt.sym] = value
            case For():
                lo, hi, step = (try_value(e, scalars, known) for e in (stmt.lo, stmt.hi, stmt.step))
                if lo is not None:
                    known[stmt.sym] = lo
                trips = UNKNOWN_TRIPS if lo is None or hi is None or not step else max(0, -((lo - hi) // step))
                total += trips * _work(stmt.body, scalars, known)
            case While():
                total += UNKNOWN_TRIPS * _work(stmt.body, scalars, known)
            case If():
                total += max(_work(stmt.then, scalars, known), _work(stmt.orelse, scalars, known))
            case _:
                total += sum(_work(inner, scalars, known) for inner in bodies(stmt))
    return total
