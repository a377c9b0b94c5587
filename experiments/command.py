"""The ``xpiler`` command as an outsider calls it: a process, its JSON, its exit status."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the command said. ``status`` is its own, or ``timeout`` or ``crash`` when there was none.

    ``seconds`` are wall clock, the start of the process included.
    """

    status: str
    exit_code: int | None
    seconds: float
    result: dict[str, Any]
    log: str = ""

    @property
    def level(self) -> str:
        return str((self.result.get("evidence") or {}).get("level") or "")

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each level that the evidence speaks about."""
        levels = (self.result.get("evidence") or {}).get("levels") or {}
        return {name: str(finding["outcome"]) for name, finding in levels.items()}

    @property
    def reason(self) -> str:
        """Why it was not achieved: the findings that are not shown, else the errors."""
        levels = (self.result.get("evidence") or {}).get("levels") or {}
        bad = [f"{name} {f['outcome']}: {f['summary']}" for name, f in levels.items() if f["outcome"] in ("refuted", "not_shown")]
        errors = [d["message"] for d in self.result.get("diagnostics", []) if d["severity"] == "error"]
        return "; ".join(bad + errors) or self.log[-500:]


def run_xpiler(arguments: Sequence[str], timeout: float) -> Outcome:
    """Runs ``xpiler ARGUMENTS --json -`` and ends its whole session at the deadline. ``timeout`` is in seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "xpiler", *arguments, "--json", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome("timeout", None, time.monotonic() - started, {}, f"no answer within {timeout:g} s")
    seconds = time.monotonic() - started
    try:
        result = json.loads(out)
    except json.JSONDecodeError:
        return Outcome("crash", process.returncode, seconds, {}, err.strip() or out.strip())
    return Outcome(str(result.get("status", "crash")), process.returncode, seconds, result, err.strip())
