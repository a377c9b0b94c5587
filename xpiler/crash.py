"""Where the traceback of an internal error goes: a file, not the user's terminal."""

from __future__ import annotations

import tempfile
import traceback
from pathlib import Path


def write_crash_report(error: BaseException) -> Path:
    """Writes the traceback to a new file and returns its path."""
    with tempfile.NamedTemporaryFile("w", prefix="xpiler-crash-", suffix=".txt", delete=False) as file:
        file.write("".join(traceback.format_exception(error)))
    return Path(file.name)
