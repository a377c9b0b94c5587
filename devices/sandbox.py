"""Runs commands in a sandbox: a session and temporary folder of their own, resource limits, a cleaned environment, no network,
and a supervisor that ends everything the command started at the deadline or when this process dies.

Every compile and every run of a candidate goes through ``run_command``; what a command does comes back as a value. The supervisor is a
small C program (``runtime/sandbox.c``), so that nothing runs between fork and exec in a threaded Python process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from synth.errors import UsageError

GIB = 1 << 30
RUNTIME = Path(__file__).parent / "runtime"
OUTPUT_LIMIT = 32_000
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "CUDA_HOME", "OMP_PROC_BIND", "OMP_PLACES")


class Ending(Enum):
    """How a command ended."""

    EXITED = "exit"
    SIGNALLED = "signal"
    TIMEOUT = "timeout"
    UNSTARTED = "unstarted"


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one command. ``data_bytes`` bounds writable private memory (guard regions do not count); ``file_bytes`` the size
    of a file it may grow; ``processes`` is per user, and not enforced for root."""

    data_bytes: int = 12 * GIB
    file_bytes: int = GIB
    processes: int = 4096


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command did. ``code`` is the exit code, the signal's number, or errno when it could not be started. Output is cut to
    ``OUTPUT_LIMIT`` characters. ``seconds`` count from the start of the command."""

    ending: Ending
    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.EXITED and self.code == 0


def cache_root() -> Path:
    """Where built artefacts are kept: ``$XPILER_CACHE``, or ``~/.cache/xpiler``, or a folder of the user in the temporary folder when
    there is no writable home."""
    chosen = os.environ.get("XPILER_CACHE")
    candidates = [Path(chosen)] if chosen else [Path.home() / ".cache" / "xpiler", Path(tempfile.gettempdir()) / f"xpiler-{os.getuid()}"]
    for candidate in candidates:
        try:
            candidate.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(candidate, os.W_OK):
            return candidate
    raise UsageError(f"the cache folder {candidates[0]} cannot be written", hint="set XPILER_CACHE to a writable folder")


@contextmanager
def workspace() -> Iterator[Path]:
    """A temporary folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="xpiler-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Holds an exclusive flock on ``path``, which is created when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@lru_cache(maxsize=1)
def _supervisor() -> Path:
    source = RUNTIME / "sandbox.c"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    binary = cache_root() / "tools" / f"sandbox-{digest}"
    if binary.exists():
        return binary
    compiler = shutil.which("gcc") or shutil.which("g++") or shutil.which("clang")
    if compiler is None:
        raise UsageError("no C compiler was found", hint="install g++ (Debian: apt install g++)")
    with file_lock(binary.with_suffix(".lock")):
        if not binary.exists():
            partial = binary.with_suffix(f".{os.getpid()}")
            built = subprocess.run(
                [compiler, "-O2", "-x", "c", str(source), "-o", str(partial)], capture_output=True, text=True, check=False
            )
            if built.returncode != 0:
                raise UsageError(f"the sandbox could not be built with {compiler}: {built.stderr.strip()[:2000]}")
            partial.rename(binary)
    return binary


def clean_environment(folder: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment a command sees: a few variables of ours, its own home and temporary folder, and ``extra``."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        **kept,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        **(extra or {}),
    }


def _read_cut(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            data = handle.read(OUTPUT_LIMIT + 1)
    except OSError:
        return ""
    text = data[:OUTPUT_LIMIT].decode("utf-8", "replace")
    return text + "\n[output cut]" if len(data) > OUTPUT_LIMIT else text


def run_command(
    command: Sequence[str | Path],
    timeout: float,
    folder: Path,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Runs ``command`` in ``folder`` for at most ``timeout`` wall-clock seconds. Never raises for what the command does."""
    limits = limits or Limits()
    scratch = Path(tempfile.mkdtemp(prefix=".sandbox-", dir=folder))
    report = scratch / "report"
    cpu_seconds = max(1, int(timeout * (os.cpu_count() or 1)) + 2)
    arguments = [int(timeout * 1000), cpu_seconds, limits.data_bytes, limits.file_bytes, limits.processes, report, "--"]
    with (scratch / "out").open("wb") as out, (scratch / "err").open("wb") as err:
        process = subprocess.Popen(
            [str(_supervisor()), *map(str, arguments), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            env=clean_environment(folder, environment),
            start_new_session=True,
        )
        try:
            # the supervisor keeps the deadline; this is only for a supervisor that is itself stopped
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout + 30)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    stdout, stderr = _read_cut(scratch / "out"), _read_cut(scratch / "err")
    try:
        kind, code, seconds = report.read_text().split()
        completed = Completed(Ending(kind), int(code), stdout, stderr, float(seconds))
    except (OSError, ValueError):
        completed = Completed(Ending.SIGNALLED, 9, stdout, stderr + "\n[the supervisor was killed]", 0.0)
    shutil.rmtree(scratch, ignore_errors=True)
    return completed
