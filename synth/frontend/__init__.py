"""libclang to IR: one shared reader of the C++ subset, one small module per dialect."""

from __future__ import annotations

from collections.abc import Callable

from synth.errors import UsageError
from synth.frontend.reader.depth import recursion_room
from synth.source import ReadOptions, ReadResult, Source


def read(source: Source, options: ReadOptions) -> ReadResult:
    """Reads a source of dialect ``cuda``, ``hip`` or ``vnni`` (``c`` is another name for ``vnni``).

    Raises ``UsageError`` (exit status 2; ``SourceError`` for text that is not valid C++) or ``UnsupportedError`` (exit status 1), with
    file, line and a hint.
    """
    from synth.frontend import c, cuda, hip

    readers: dict[str, Callable[[Source, ReadOptions], ReadResult]] = {"cuda": cuda.read, "hip": hip.read, "vnni": c.read, "c": c.read}
    found = readers.get(source.dialect)
    if found is None:
        raise UsageError(f"there is no frontend for dialect '{source.dialect}' yet", hint=f"dialects that are read: {', '.join(readers)}")
    with recursion_room():
        return found(source, options)
