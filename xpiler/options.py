"""Turning command-line strings into typed options. Every error names the option and shows the right form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from synth.errors import UsageError
from synth.evidence.levels import Level
from synth.frontend.hip_target import is_hip
from synth.source import DIALECTS, LaunchShape, ReadOptions, Source

SUFFIXES = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".hip": "hip",
    ".mlu": "bang",
    ".c": "vnni",
    ".cc": "vnni",
    ".cpp": "vnni",
    ".cxx": "vnni",
}
AMBIGUOUS = (".cu", ".cuh", ".cc", ".cpp", ".cxx")  # HIP files have these suffixes too: their contents decide
MAX_SOURCE_BYTES = 4 << 20
MAX_HEADERS = 64
PARENT = "xp_parent"  # stands for ".." in the names of headers
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a translation or a verification depends on besides its files. ``evidence`` is the level that must be reached."""

    read: ReadOptions = field(default_factory=ReadOptions)
    target: str | None = None
    evidence: Level = Level.L1
    tune: float | None = None
    llm: str | None = None
    model: str | None = None
    ray: str | None = None
    seed: int = 0
    keep_failed: bool = False
    records: Path | None = None
    strategy: str = "mcts"


def dialect_name(text: str, option: str) -> str:
    """A dialect's canonical name; ``c`` reads as ``vnni``. Raises UsageError."""
    name = "vnni" if text == "c" else text
    if name not in DIALECTS:
        raise UsageError(f"{option} {text}: no such dialect", hint=f"dialects are {', '.join(DIALECTS)} (c is vnni)")
    return name


def load_source(path: Path, dialect: str | None, include: Sequence[Path] = ()) -> Source:
    """Reads a source file with the user's own headers, from beside it and from the folders ``include``; the dialect is guessed from the
    suffix and, where that is ambiguous, from the contents when not given. Raises UsageError."""
    known = dialect or SUFFIXES.get(path.suffix)
    if known is None:
        raise UsageError(
            f"{path}: the dialect cannot be told from the suffix '{path.suffix}'", hint="give it with --from cuda|hip|bang|vnni"
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", hint="give a readable file") from error
    if len(raw) > MAX_SOURCE_BYTES:
        raise UsageError(f"{path}: {len(raw)} bytes; sources above {MAX_SOURCE_BYTES} bytes are not read", hint="is this a source file?")
    if b"\0" in raw:
        raise UsageError(f"{path}: a binary file", hint="give a source file")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})", hint="convert the file to UTF-8") from error
    if dialect is None and path.suffix in AMBIGUOUS and is_hip(text):
        known = "hip"
    return Source(without_parents(text), known, str(path), _own_headers(path.parent, include, text))


def _own_headers(folder: Path, include: Sequence[Path], text: str) -> dict[str, str]:
    """The user's own headers and what these include, by the path under which the text finds them: ``"x.h"`` from beside the file that
    includes it or from the include folders, ``<x.h>`` from these."""
    found: dict[str, str] = {}
    waiting = [("", folder, *written) for written in _INCLUDE.findall(text)]
    while waiting:
        beside, place, quote, written = waiting.pop()
        places = [(base, written) for base in include]
        if quote == '"':
            places.insert(0, (place, f"{beside}/{written}" if beside else written))
        path, name = next(((base / written, name) for base, name in places if _is_header(base / written)), (None, ""))
        name = _inside(name)
        if path is None or name in found:
            continue
        original = path.read_text(errors="replace")
        found[name] = without_parents(original)
        waiting += [(name.rpartition("/")[0], path.parent, *more) for more in _INCLUDE.findall(original)]
        if len(found) > MAX_HEADERS:
            raise UsageError(f"{folder}: more than {MAX_HEADERS} headers are included", hint="translate a smaller file")
    return found


def _is_header(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES


def without_parents(text: str) -> str:
    """The text with ``../`` in its includes replaced: a build folder holds all headers below the source."""
    return _INCLUDE.sub(lambda match: match[0].replace(match[2], _inside(match[2])), text)


def _inside(name: str) -> str:
    """A path without ``.`` and ``..`` at its start."""
    parts = [part for part in name.split("/") if part != "."]
    return "/".join(PARENT if part == ".." else part for part in parts)


def read_options(
    defines: Sequence[str],
    entry: str | None,
    binds: Sequence[str],
    extents: Sequence[str],
    launch: str | None,
    source_target: str | None = None,
    values: Sequence[str] = (),
) -> ReadOptions:
    """Parses ``-D``, ``--entry``, ``--bind``, ``--extent``, ``--launch`` and ``--values``. Raises UsageError."""
    return ReadOptions(
        defines=dict(_pair(text, "-D", default="1") for text in defines),
        entry=entry,
        launch=launch_shape(launch) if launch else None,
        binds={name: _number(value, f"--bind {name}") for name, value in (_pair(text, "--bind") for text in binds)},
        extents=dict(_pair(text, "--extent") for text in extents),
        source_target=source_target,
        values={name: _integers(numbers, f"--values {name}") for name, numbers in (_pair(text, "--values") for text in values)},
    )


def launch_shape(text: str) -> LaunchShape:
    """``grid=X[,Y,Z],block=X[,Y,Z][,shared=BYTES]``. Raises UsageError."""
    form = "--launch grid=X[,Y,Z],block=X[,Y,Z]"
    fields: dict[str, list[int]] = {}
    name = ""
    for part in text.split(","):
        if "=" in part:
            name, part = (piece.strip() for piece in part.split("=", 1))
            if name in fields:
                raise UsageError(f"--launch {text}: '{name}' is given twice", hint=form)
            fields[name] = []
        if not part.strip().isdigit():
            raise UsageError(f"--launch {text}: '{part}' is not a positive number", hint=form)
        fields.setdefault(name, []).append(int(part))
    if set(fields) - {"grid", "block", "shared"} or not {"grid", "block"} <= set(fields):
        raise UsageError(f"--launch {text}: expected grid and block", hint=form)
    shared = fields.get("shared", [0])
    if any(len(fields[key]) > 3 or 0 in fields[key] for key in ("grid", "block")) or len(shared) > 1:
        raise UsageError(f"--launch {text}: a shape has one to three positive numbers", hint=form)
    return LaunchShape(_three(fields["grid"]), _three(fields["block"]), shared[0])


def evidence_level(text: str) -> Level:
    """Raises UsageError for what is no level, or not reachable by this version."""
    try:
        level = Level(text.upper())
    except ValueError as error:
        raise UsageError(f"--evidence {text}: no such level", hint="levels are L0 to L4") from error
    if level not in (Level.L0, Level.L1):
        raise UsageError(f"--evidence {text}: this version earns L0 and L1 only", hint="use --evidence L1")
    return level


def _three(values: list[int]) -> tuple[int, int, int]:
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


def _pair(text: str, option: str, default: str | None = None) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals and default is not None:
        value = default
    elif not equals or not value:
        raise UsageError(f"{option} {text}: a value is missing", hint=f"write {option} NAME=VALUE")
    if not _NAME.match(name):
        raise UsageError(f"{option} {text}: '{name}' is not an identifier", hint=f"write {option} NAME=VALUE")
    return name, value


def _integers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(int(part, 0) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option}={text}: not integers", hint="write --values NAME=N,N,...") from error


def _number(text: str, option: str) -> int | float:
    for convert in (lambda t: int(t, 0), float):
        try:
            return convert(text)
        except ValueError:
            continue
    raise UsageError(f"{option}={text}: not a number", hint="write --bind NAME=NUMBER")
