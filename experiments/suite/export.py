"""``xpiler suite export``: the sources and a manifest of the cases, for outside scripts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from experiments.suite.registry import CASES, DIALECTS, sources


def export(folder: Path) -> int:
    """Writes every source, in a folder for each dialect, and ``cases.json`` to ``folder`` (made if needed); returns the number of files
    written."""
    count = 0
    for dialect in DIALECTS:
        (folder / dialect).mkdir(parents=True, exist_ok=True)
        for source in sources(dialect):
            shutil.copyfile(source, folder / dialect / source.name)
            count += 1
    manifest = [
        {
            "name": case.name,
            "dialect": dialect,
            "operator": case.operator,
            "data": case.data.value,
            "file": f"{dialect}/{case.source.name}",
            "entry": case.entry,
            "defines": case.defines,
            "binds": case.binds,
            "values": case.values,
            "scaled": case.scaled,
            "reason": case.reason,
            "arguments": case.arguments,
        }
        for dialect in DIALECTS
        for case in CASES[dialect]
    ]
    (folder / "cases.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return count + 1
