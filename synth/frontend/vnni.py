"""AVX-512 intrinsics in C sources: each call is replaced by the meaning it has in ``synth.intrinsics``."""

from __future__ import annotations

from synth.frontend.reader.clang import Cursor
from synth.frontend.reader.places import Value
from synth.frontend.reader.reader import Reader


def call(reader: Reader, name: str, call: Cursor) -> Value | None:
    """The value of an intrinsic call, or None for a function that is no intrinsic."""
    if name.startswith(("_mm512_", "_mm256_", "_mm_")):
        raise reader.refuse(f"intrinsic '{name}' is not supported", call, "see docs for the intrinsics that are read")
    return None
