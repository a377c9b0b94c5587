"""Translates kernels drawn from public code: ``python -m experiments.wild FOLDER... --to vnni,hip --out DIR``.

Every drawn kernel is in the denominator. *Translated* means that the command said ok; *refused* that it named what it does not do (exit
status 1 or 2); *not shown* that no evidence could be earned, most often because the source itself fails when called by the rule of
``experiments.wild.calling``; *refuted* that the result was found wrong. A *crash* or *timeout* is a defect. Records are appended and
resumed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from experiments.command import Outcome, run_xpiler
from experiments.records import Record, append, key_of, product_digest, read
from experiments.wild.calling import ELEMENTS, arguments, asked_extent
from experiments.wild.drawing import Kernel, draw

Run = Callable[[Sequence[str], float], Outcome]
KINDS = {"ok": "translated", "unsupported": "refused", "error": "refused"}
MAX_EXTENTS = 16


def translate(kernel: Kernel, target: str, timeout: float, run: Run = run_xpiler) -> Record:
    """Translates one kernel, giving the extents that are asked for, and returns its record (without key)."""
    call = arguments(kernel, target)
    outcome = run(call, timeout)
    for _ in range(MAX_EXTENTS):
        asked = asked_extent(outcome.reason) if outcome.status != "ok" else None
        if asked is None:
            break
        call += ["--extent", f"{asked}={ELEMENTS}"]
        outcome = run(call, timeout)
    return {
        "kernel": kernel.label,
        "collection": kernel.collection.name,
        "to": target,
        "kind": KINDS.get(outcome.status, outcome.status),
        "status": outcome.status,
        "exit_code": outcome.exit_code,
        "level": outcome.level,
        "seconds": round(outcome.seconds, 2),
        "reason": "" if outcome.status == "ok" else outcome.reason[:600],
        "arguments": call[2:],
    }


def cause(record: Record) -> str:
    """The reason without names, numbers and places, so that equal causes are counted together."""
    text = re.sub(r"'[^']*'", "'…'", record["reason"].split("\n")[0])
    text = re.sub(r"\b\d+(?:\.\d+)?\b", "n", text)
    return f"{record['kind']}: {text[:110]}"


def report(records: Sequence[Record]) -> str:
    """The tables, as markdown."""
    lines: list[str] = []
    for target in sorted({r["to"] for r in records}):
        mine = [r for r in records if r["to"] == target]
        kinds = Counter(r["kind"] for r in mine)
        done = kinds["translated"]
        times = sorted(r["seconds"] for r in mine if r["kind"] == "translated")
        lines += [f"## To {target}", "", f"Translated: **{done} of {len(mine)}** ({100 * done / len(mine):.0f}%)."]
        lines += ["All: " + ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in kinds.most_common()) + "."]
        lines += [f"Seconds of those translated: median {median(times):.1f}, longest {times[-1]:.1f}." if times else "", ""]
        lines += ["| cause | kernels |", "| --- | ---: |"]
        lines += [f"| {c.replace('|', '/')} | {n} |" for c, n in Counter(cause(r) for r in mine if r["kind"] != "translated").most_common()]
        lines += ["", "| kernel | outcome | level | seconds |", "| --- | --- | --- | ---: |"]
        lines += [f"| {r['kernel']} | {r['kind'].replace('_', ' ')} | {r['level']} | {r['seconds']} |" for r in mine]
        lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The command. Exit status 1 when a result was refuted, or the command crashed or did not end."""
    parser = argparse.ArgumentParser(prog="python -m experiments.wild", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("collections", nargs="+", type=Path, help="folders of sources, one a collection")
    parser.add_argument("--to", default="vnni,hip", help="targets (default: vnni,hip)")
    parser.add_argument("--count", type=int, default=60, help="kernels drawn (default: 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a translation (default: 120)")
    parser.add_argument("--out", type=Path, default=Path("wild-results"), help="folder of records and report")
    options = parser.parse_args(argv)
    missing = [str(folder) for folder in options.collections if not folder.is_dir()]
    if missing:
        parser.error(f"no such folder: {', '.join(missing)}")
    kernels = draw([folder.resolve() for folder in options.collections], options.count, options.seed)
    path, product = options.out / "records.jsonl", product_digest()
    known = {record["key"]: record for record in read(path)}
    records: list[Record] = []
    for kernel in kernels:
        for target in options.to.split(","):
            key = key_of(kernel.label, kernel.file.read_bytes(), target, options.timeout, product)
            if key not in known:
                known[key] = {"key": key, **translate(kernel, target, options.timeout)}
                append(path, known[key])
            records.append(known[key])
            last = records[-1]
            print(f"{last['kind']:11} {last['seconds']:6.1f} s  {target:5} {last['kernel']}", flush=True)
    text = report(records)
    (options.out / "wild.md").write_text(f"# Kernels from public code\n\nSeed {options.seed}.\n\n{text}", encoding="utf-8")
    print(f"report: {options.out / 'wild.md'}")
    return int(any(r["kind"] in ("refuted", "crash", "timeout") for r in records))


if __name__ == "__main__":
    sys.exit(main())
