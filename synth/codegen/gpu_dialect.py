"""What CUDA and HIP differ in when they are printed, as a table; ``cuda.py`` and ``hip.py`` hold its two rows.

HIP's runtime API is CUDA's under another prefix (HIP Porting Guide).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from synth.ir.dtypes import DType
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class GpuDialect:
    """``prefix`` of the runtime API's names; ``half_headers`` are included where their type is used, ``half_vectors`` are the type of two
    and what makes it. ``shuffle`` spells a shuffle: ``{op}`` is the function, ``{mask}`` the mask of lanes, ``{args}`` the other
    arguments; without ``has_masks`` votes are made from ballots, without ``moves_halves`` half types are shuffled as bits. ``warp_sync``
    are the lines of a barrier of a warp, ``masked_sync`` of one of the lanes in ``{mask}``. ``symbol`` names a constant in the API's
    calls."""

    name: str
    title: str
    prefix: str
    suffix: str
    build: Callable[[DeviceSpec], str]
    headers: tuple[str, ...]
    half_headers: dict[DType, str]
    half_types: dict[DType, str]
    half_vectors: dict[DType, tuple[str, str]]
    shuffle: str
    has_masks: bool
    moves_halves: bool
    warp_sync: tuple[str, ...]
    masked_sync: tuple[str, ...]
    symbol: str

    @property
    def check(self) -> str:
        return f"{self.prefix.upper()}_CHECK"

    def api(self, function: str) -> str:
        """``cudaMalloc`` for ``Malloc``."""
        return self.prefix + function
