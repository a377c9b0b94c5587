"""Append-only records of experiments: one JSON object a line, synced, so that a killed run loses at most the case under way."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
ROOMS = ("synth", "devices", "search", "llm_server", "xpiler")
_PRODUCT_SUFFIXES = {".py", ".h", ".cpp", ".c", ".S", ".txt"}


def append(path: Path, record: Record) -> None:
    """Adds a record and syncs it to disk. A torn last line of a killed run is ended first, so that it spoils only itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as handle:
        handle.write(("\n" if torn else "") + json.dumps(record, sort_keys=True) + "\n")
        handle.flush()
        os.fsync(handle.fileno())


def read(path: Path) -> Iterator[Record]:
    """The whole records of a file, in order; none where there is no file."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # the torn line of a killed run
        if isinstance(record, dict):
            yield record


def product_digest(root: Path | None = None) -> str:
    """A digest of the product's own files: a record made by other code is not taken for a result of this one."""
    root = root or Path(__file__).parent.parent
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.is_file() and (path.suffix in _PRODUCT_SUFFIXES or path.suffix == ""):
                digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def key_of(*parts: object) -> str:
    """The identity of a piece of work."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]
