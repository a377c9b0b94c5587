"""All passes by name, loaded when asked for."""

from __future__ import annotations

from importlib import import_module

from synth.errors import UsageError
from synth.passes.base import Pass

_PASSES: dict[str, str] = {
    # The eleven of the paper
    "loop_recovery": "loop_recovery:LoopRecovery",
    "loop_bind": "loop_bind:LoopBind",
    "loop_split": "loop_split:LoopSplit",
    "loop_fuse": "loop_fuse:LoopFuse",
    "loop_reorder": "loop_reorder:LoopReorder",
    "loop_expansion": "loop_expansion:LoopExpansion",
    "loop_contraction": "loop_contraction:LoopContraction",
    "cache": "cache:Cache",
    "pipeline": "unavailable:Pipeline",
    "tensorize": "unavailable:Tensorize",
    "detensorize": "unavailable:Detensorize",
    # Host side and structure
    "block_bind": "block_bind:BlockBind",
    "result_buffer": "result_buffer:ResultBuffer",
    "fit_extents": "fit_extents:FitExtents",
    "spill": "spill:Spill",
    "device_buffers": "device_buffers:DeviceBuffers",
    "serialize": "serialize:Serialize",
    "privatize": "privatize:Privatize",
    "host_copies": "host_copies:HostCopies",
    "retarget": "retarget:Retarget",
    "structurize": "structurize:Structurize",
    # Raising
    "extremum": "extremum:Extremum",
    "reroll": "reroll:Reroll",
    "counted_while": "counted_while:CountedWhile",
    "induction": "induction:Induction",
    "reduction_raise": "reduction_raise:ReductionRaise",
    "store_forward": "store_forward:StoreForward",
    "copy_elimination": "copy_elimination:CopyElimination",
    "reduction_merge": "reduction_merge:ReductionMerge",
    "stride_merge": "stride_merge:StrideMerge",
    # Good code
    "simplify": "simplify:Simplify",
    "unroll": "unroll:Unroll",
    "jam": "jam:Jam",
    "promote": "promote:Promote",
    "loop_distribute": "loop_distribute:LoopDistribute",
    "parallelize": "parallelize:Parallelize",
    "vectorize": "vectorize:Vectorize",
    "simd": "simd:Simd",
    "contract_fma": "contract_fma:ContractFma",
}


def names() -> tuple[str, ...]:
    """The names of all passes."""
    return tuple(_PASSES)


def get(name: str) -> type[Pass]:
    """The class of a pass. Raises UsageError for an unknown name."""
    if name not in _PASSES:
        raise UsageError(f"there is no pass '{name}'", hint=f"passes are {', '.join(_PASSES)}")
    module, _, attribute = _PASSES[name].partition(":")
    found: type[Pass] = getattr(import_module(f"synth.passes.{module}"), attribute)
    return found
