"""L0: the source and the result are in bounds, race-free and within the limits of their targets, as far as that can be proved
statically."""

from __future__ import annotations

from typing import Any

from synth.analysis.bounds import BoundsFinding, check_bounds
from synth.analysis.dependence import Independence, independent_iterations
from synth.analysis.limits import exceeded_limits
from synth.analysis.races import check_races
from synth.analysis.solver import Proof
from synth.evidence.levels import Finding, Level, Outcome
from synth.ir.dtypes import Vec
from synth.ir.grammar import Axis, For, Module
from synth.ir.traversal import all_exprs, walk
from synth.spec import DEFAULT_TARGET, DeviceSpec, find_spec


def earn_l0(source: Module, result: Module, spec: DeviceSpec, source_spec: DeviceSpec | None = None) -> Finding:
    """The finding about a pair of programs; ``source_spec`` None is the default target of the source's dialect. ``refuted`` only for what
    certainly breaks a limit; what is not proved is ``not_shown`` with its places."""
    details: dict[str, Any] = {}
    source_spec = source_spec or find_spec(source.dialect, DEFAULT_TARGET.get(source.dialect)) or spec
    broken = [*exceeded_limits(source, source_spec), *exceeded_limits(result, spec)]
    open_points: list[str] = []
    for name, module in (("source", source), ("result", result)):
        found = check_bounds(module)
        unknown = [f for f in found if f.proof is not Proof.PROVED]
        refuted = [f for f in unknown if f.proof is Proof.REFUTED]
        details[f"{name}_bounds"] = {
            "proved": len(found) - len(unknown),
            "unknown": len(unknown) - len(refuted),
            "refuted": len(refuted),
        }
        broken += [_bounds_words(name, f) for f in refuted]
        open_points += [_bounds_words(name, f) for f in unknown if f not in refuted]
    pairs = 0
    for name, module in (("source", source), ("result", result)):
        races = check_races(module)
        details[f"{name}_races"] = {
            "pairs_proved": races.proved,
            "unknown": len(races.unknown),
            "same_value": len(races.same_value),
            "divergent_barriers": len(races.divergent),
        }
        pairs += races.proved
        open_points += [f"{name}: {words}" for words in (*races.divergent, *races.unknown)]
    loops = [s for s in walk(result.body) if isinstance(s, For) and s.axis in (Axis.OMP, Axis.SIMD)]
    dependent = [(s, _parallel(result, s)) for s in loops]
    details["result_parallel_loops"] = {"proved": sum(1 for _, p in dependent if p), "unknown": sum(1 for _, p in dependent if not p)}
    open_points += [f"result: loop '{s.sym.name}': {p.reason}" for s, p in dependent if not p]
    details["open"] = open_points[:20]
    details["vector_values"] = any(isinstance(e.type, Vec) for e in all_exprs(result.body))
    if broken:
        return Finding(Level.L0, Outcome.REFUTED, "; ".join(broken), details)
    if open_points:
        more = f" and {len(open_points) - 1} more" if len(open_points) > 1 else ""
        return Finding(Level.L0, Outcome.NOT_SHOWN, f"not proved: {open_points[0]}{more}", details)
    total = details["source_bounds"]["proved"] + details["result_bounds"]["proved"]
    return Finding(Level.L0, Outcome.SHOWN, f"{total} accesses in bounds, {pairs} pairs of accesses race-free, limits kept", details)


def _parallel(module: Module, loop: For) -> Independence:
    """Whether the iterations of a bound loop may run at once; lanes may accumulate into a scalar, threads may not."""
    proof = independent_iterations(module, loop)
    if proof.reductions and loop.axis is Axis.OMP:
        return Independence(False, proof.reductions, f"iterations accumulate into '{proof.reductions[0][0].name}'")
    return proof


def _bounds_words(name: str, f: BoundsFinding) -> str:
    place = f" at {f.location}" if f.location else ""
    certainty = "is" if f.proof is Proof.REFUTED else "may be"
    return f"{name}: {'write to' if f.is_write else 'read of'} '{f.buffer}'{place} {certainty} {f.detail}"
