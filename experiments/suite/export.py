"""``xpiler suite export``: the sources and a manifest of the cases, for outside scripts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from experiments.suite.registry import CASES, SOURCES


def export(folder: Path) -> int:
    """Writes every source and ``cases.json`` to ``folder`` (made if needed); returns the number of files written."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(SOURCES.glob("*.cu"))
    for source in sources:
        shutil.copyfile(source, folder / source.name)
    manifest = [
        {
            "name": case.name,
            "operator": case.operator,
            "file": case.source.name,
            "entry": case.entry,
            "defines": case.defines,
            "binds": case.binds,
            "scaled": case.scaled,
            "reason": case.reason,
            "command": ["xpiler", "translate", case.source.name, "--to", "vnni", *case.arguments],
        }
        for case in CASES
    ]
    (folder / "cases.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return len(sources) + 1
