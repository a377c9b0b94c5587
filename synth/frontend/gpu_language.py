"""What CUDA and HIP differ in, as a table: everything else of their frontends is shared.

HIP's runtime API is CUDA's under another prefix (HIP Porting Guide), so functions are known by their names without it (``Malloc``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Value
from synth.frontend.reader.reader import Reader
from synth.ir.dtypes import DType
from synth.spec import DeviceSpec

if TYPE_CHECKING:
    from synth.frontend.gpu_device import GpuDevice

# Reads a call on a device, whose arguments are still unread.
DeviceCall = Callable[["GpuDevice", Reader, Cursor, list[Cursor]], Value]


@dataclass(frozen=True, slots=True)
class GpuLanguage:
    """``prefix``: of the runtime API's names. ``arguments`` are clang's for a file of this language and a target, ``header`` is read
    before it. ``lane_mask`` is the type of masks of lanes in this language, whatever the size of a warp. ``synonyms``: API functions
    (without prefix) by the name under which the shared frontend knows them. ``calls`` are device functions of this language alone."""

    name: str
    prefix: str
    arguments: Callable[[DeviceSpec], tuple[str, ...]]
    header: str
    lane_mask: DType
    synonyms: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, DeviceCall] = field(default_factory=dict)

    def api_name(self, function: str) -> str | None:
        """``Malloc`` for ``cudaMalloc``; None for what is no function of the runtime API."""
        if not function.startswith(self.prefix) or not function[len(self.prefix) :][:1].isupper():
            return None
        name = function.removeprefix(self.prefix)
        return self.synonyms.get(name, name)
