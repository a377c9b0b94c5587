"""The record store: an append-only SQLite journal of events and content-addressed artefact files.

It is the only source of resume and reports. One driver writes at a time: a second one is refused. Artefacts are written and
synced before the event that names them, so a killed run never leaves an event pointing at nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from synth.errors import UsageError

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at REAL NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_key ON events (run, kind, key);
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One fact: ``kind`` (``run``, ``evaluation``, ``exchange``, ``result``), its ``key`` within the run, and plain JSON data."""

    run: str
    kind: str
    key: str
    at: float
    data: dict[str, Any]


def content_key(*parts: str | bytes) -> str:
    """A hash of the parts, safe against ambiguity of concatenation."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.hexdigest()[:32]


class Store:
    """Open with ``Store.open``; use as a context manager."""

    def __init__(self, root: Path, connection: sqlite3.Connection, lock: IO[str]) -> None:
        self._root = root
        self._connection = connection
        self._lock = lock

    @classmethod
    def open(cls, root: Path) -> Store:
        """Opens or creates the store in folder ``root`` for writing.

        Raises UsageError when another driver holds it, when it cannot be written, or when it is of another schema version.
        """
        try:
            (root / "artefacts").mkdir(parents=True, exist_ok=True)
            lock = (root / "lock").open("a+")
        except OSError as error:
            raise UsageError(
                f"cannot write the record store {root}: {error.strerror}", hint="choose another folder with --records"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise UsageError(
                f"the record store {root} is in use by process {holder}", hint="wait for it, or use another --records folder"
            ) from error
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        connection = _connect(root / "events.sqlite")
        return cls(root, connection, lock)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the lock; everything appended is already on disk."""
        self._connection.close()
        self._lock.close()

    def append(self, run: str, kind: str, key: str, data: dict[str, Any]) -> None:
        """Adds one event durably: when this returns, a kill loses nothing."""
        text = json.dumps(data, sort_keys=True, allow_nan=False)
        with self._connection:
            self._connection.execute(
                "INSERT INTO events (run, kind, key, at, data) VALUES (?, ?, ?, ?, ?)", (run, kind, key, time.time(), text)
            )

    def latest(self, run: str, kind: str, key: str) -> Event | None:
        """The newest event of that kind and key, or None."""
        row = self._connection.execute(
            "SELECT run, kind, key, at, data FROM events WHERE run = ? AND kind = ? AND key = ? ORDER BY id DESC LIMIT 1", (run, kind, key)
        ).fetchone()
        return _event(row) if row else None

    def events(self, run: str, kind: str | None = None) -> Iterator[Event]:
        """Events of a run in the order they were appended."""
        query, arguments = "SELECT run, kind, key, at, data FROM events WHERE run = ?", [run]
        if kind is not None:
            query, arguments = query + " AND kind = ?", [run, kind]
        for row in self._connection.execute(query + " ORDER BY id", arguments):
            yield _event(row)

    def runs(self) -> tuple[str, ...]:
        """All runs that have events, oldest first."""
        rows = self._connection.execute("SELECT run, MIN(id) FROM events GROUP BY run ORDER BY 2")
        return tuple(row[0] for row in rows)

    def put(self, content: str) -> str:
        """Stores a text artefact and returns its key. Idempotent; synced to disk before it returns."""
        key = content_key(content)
        path = self._artefact(key)
        if path.exists():
            return key
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)
        with _folder_descriptor(path.parent) as folder:
            os.fsync(folder)
        return key

    def get(self, key: str) -> str:
        """The artefact with that key. Raises KeyError when there is none."""
        path = self._artefact(key)
        if not path.exists():
            raise KeyError(key)
        return path.read_text()

    def _artefact(self, key: str) -> Path:
        return self._root / "artefacts" / key[:2] / key


@contextmanager
def _folder_descriptor(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _event(row: tuple[str, str, str, float, str]) -> Event:
    return Event(row[0], row[1], row[2], row[3], json.loads(row[4]))


def _connect(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.executescript(_SCHEMA)
        row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if row is None:
            with connection:
                connection.execute("INSERT INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
        elif row[0] != str(SCHEMA_VERSION):
            raise UsageError(
                f"the record store {path} has schema version {row[0]}, this is {SCHEMA_VERSION}", hint="use another --records folder"
            )
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} is not a record store: {error}", hint="use another --records folder") from error
    return connection
