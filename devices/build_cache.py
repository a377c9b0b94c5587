"""Content-addressed builds: one folder per key, made once under a lock, put in place by a rename, good or bad.

The key covers everything that decides the outcome: source text, flags, compiler version and the runtime files that are compiled or linked
in. A failed compile is kept too, since it would fail again; a compile that was killed is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from devices.device import Build
from devices.sandbox import Ending, Limits, cache_root, file_lock, run_command
from devices.status import Status

FORMAT = "3"  # part of every key: raise it when the layout of a build folder changes


@dataclass(frozen=True, slots=True)
class Step:
    """One compiler call of a build. ``{out}`` in an argument stands for the folder of the build."""

    command: tuple[str, ...]


def digest(parts: Iterable[str | bytes]) -> str:
    """A hash of ``parts``, in order; their boundaries count."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(f"{len(data)}:".encode())
        sha.update(data)
    return sha.hexdigest()[:40]


@lru_cache(maxsize=64)
def tree_digest(*folders: Path) -> str:
    """A hash of the names and contents of all files under ``folders``."""
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return digest(part for path in files for part in (path.name, path.read_bytes()))


@lru_cache(maxsize=16)
def compiler_version(compiler: str) -> str:
    """The first lines of ``compiler --version`` with its path; empty when it cannot be run."""
    path = shutil.which(compiler)
    if path is None:
        return ""
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60)
    return f"{path}\n{shown.stdout}"


def build_once(key: str, files: dict[str, str], steps: Sequence[Step], timeout: float, product: str = "program") -> Build:
    """The build of ``key``: taken from the cache, or made by writing ``files`` and running ``steps``, which must leave ``product``."""
    folder = cache_root() / "builds" / key[:2] / key
    found = _load(key, folder, product)
    if found is not None:
        return found
    with file_lock(cache_root() / "locks" / f"{key[:16]}.lock"):
        found = _load(key, folder, product)
        if found is not None:
            return found
        return _make(key, folder, files, steps, timeout, product)


def _load(key: str, folder: Path, product: str) -> Build | None:
    try:
        meta = json.loads((folder / "meta.json").read_text())
        status = Status(meta["status"])
    except (OSError, ValueError, KeyError):
        return None
    path = folder / product
    if status is Status.OK and not path.exists():
        return None
    return Build(status, key, path if status is Status.OK else None, meta.get("log", ""), float(meta.get("seconds", 0.0)))


def _make(key: str, folder: Path, files: dict[str, str], steps: Sequence[Step], timeout: float, product: str) -> Build:
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder.parent))
    try:
        _write_files(partial, files)
        build, final = _run_steps(key, partial, steps, timeout, product)
        if not final:
            return build
        meta = {"status": build.status.value, "log": build.log, "seconds": build.seconds}
        (partial / "meta.json").write_text(json.dumps(meta))
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    path = folder / product if build.status is Status.OK else None
    return Build(build.status, key, path, build.log, build.seconds)


def _write_files(folder: Path, files: dict[str, str]) -> None:
    """Writes ``files`` by their relative names. One whose name leads out of the folder is left out: the compiler will miss and name it."""
    for name, text in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _run_steps(key: str, partial: Path, steps: Sequence[Step], timeout: float, product: str) -> tuple[Build, bool]:
    seconds = 0.0
    log: list[str] = []
    for step in steps:
        command = [argument.replace("{out}", str(partial)) for argument in step.command]
        done = run_command(command, max(1.0, timeout - seconds), partial, Limits(processes=65536))
        seconds += done.seconds
        text = (done.stdout + done.stderr).replace(f"{partial}/", "")
        if text.strip():
            log.append(text)
        if done.ending is Ending.TIMEOUT:
            return Build(Status.TIMEOUT, key, None, f"the compiler was stopped after {timeout:g} s\n" + "".join(log), seconds), False
        if done.ending is not Ending.EXITED:
            return Build(
                Status.CRASH, key, None, f"the compiler ended with {done.ending.value} {done.code}\n" + "".join(log), seconds
            ), False
        if done.code != 0 and "Killed signal" in text:
            return Build(Status.CRASH, key, None, f"the compiler was killed (out of memory?)\n{text}", seconds), False
        if done.code != 0:
            return Build(Status.COMPILE_ERROR, key, None, "".join(log) or f"the compiler ended with {done.code}", seconds), True
    if not (partial / product).exists():
        return Build(Status.COMPILE_ERROR, key, None, f"the compiler left no {product}\n" + "".join(log), seconds), True
    return Build(Status.OK, key, partial / product, "".join(log), seconds), True


def shared_object(name: str, sources: Sequence[Path], flags: Sequence[str], compiler: str) -> Path:
    """An object file of ours (harness, emulator runtime), compiled once per content: ``sources[0]`` is compiled, the others are what it
    includes. Raises RuntimeError when our own runtime does not compile, which is a broken installation."""
    key = digest([FORMAT, name, compiler_version(compiler), *flags, *(part for s in sources for part in (s.name, s.read_bytes()))])
    command = (compiler, *flags, "-c", str(sources[0]), "-o", "{out}/object.o")
    build = build_once(key, {}, [Step(command)], 300.0, "object.o")
    if build.path is None:
        raise RuntimeError(f"the runtime {name} could not be compiled ({build.status.value}):\n{build.log}")
    return build.path
