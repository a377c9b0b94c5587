"""The lowering of each target dialect: what ``xpiler.translate`` and the search ask, so that none of them knows a dialect by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from synth.errors import UnsupportedError
from synth.ir.grammar import Module
from synth.lowering import gpu, vnni
from synth.passes.trace import Trace
from synth.spec import DeviceSpec

Lower = Callable[[Module, DeviceSpec], tuple[Module, Trace]]


@dataclass(frozen=True, slots=True)
class Target:
    """``front`` brings a source to the form that the search starts from; ``default_lowering`` completes any such module for the target.
    ``suffix`` is that of the files it prints."""

    front: Lower
    default_lowering: Lower
    suffix: str


_TARGETS: Mapping[str, Target] = {
    "vnni": Target(vnni.front, vnni.default_lowering, ".c"),
    "cuda": Target(gpu.front, gpu.default_lowering, ".cu"),
    "hip": Target(gpu.front, gpu.default_lowering, ".hip"),
}


def target_of(dialect: str) -> Target:
    """The target of a dialect. Raises UnsupportedError where this version prints no such dialect."""
    found = _TARGETS.get(dialect)
    if found is None:
        raise UnsupportedError(
            f"translation to {dialect} is not available in this version", hint=f"this version translates to {', '.join(_TARGETS)}"
        )
    return found
