"""Extents of pointer parameters that the source walks along: derived where the walk has become a function of the loop variables."""

from __future__ import annotations

import dataclasses

from synth.analysis.extents import complete_params
from synth.errors import UnsupportedError
from synth.ir.grammar import Module
from synth.passes.base import Pass
from synth.passes.counted_while import CountedWhile
from synth.passes.induction import Induction
from synth.passes.simplify import Simplify
from synth.passes.store_forward import StoreForward
from synth.spec import DeviceSpec

_ROUNDS = 100
_STEPS: tuple[type[Pass], ...] = (StoreForward, CountedWhile, Induction)


def complete_sizes(module: Module, spec: DeviceSpec) -> Module:
    """``complete_params``; where an extent cannot be derived as the source is written, it is taken from an equivalent module in which
    ``x += c`` has become ``start + c * i``. Raises UnsupportedError as ``complete_params`` does."""
    try:
        return complete_params(module)
    except UnsupportedError as error:
        straight = _straightened(module, spec)
        try:
            shapes = {p.sym: p.shape for p in complete_params(straight).params}
        except UnsupportedError:
            raise error from None
    # The same elements are accessed, so what bounds the accesses of one bounds those of the other.
    params = tuple(dataclasses.replace(p, shape=shapes[p.sym]) if p.is_buffer and not p.shape else p for p in module.params)
    return complete_params(dataclasses.replace(module, params=params))


def _straightened(module: Module, spec: DeviceSpec) -> Module:
    module = Simplify().apply(module, spec)
    for _ in range(_ROUNDS):
        step = next((s for kind in _STEPS for s in kind.space(module, spec) if s.check(module, spec)), None)
        if step is None:
            break
        module = Simplify().apply(step.apply(module, spec), spec)
    return module
