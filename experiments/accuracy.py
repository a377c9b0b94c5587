"""Translates every case of the suite in every direction with the ``xpiler`` command: ``python -m experiments.accuracy``.

A case passes when the command says ok with the evidence that was asked for, the result is parallel or vectorised, and the result
agrees with the independent numpy reference. Every rate has all cases in its denominator. Each case of the suite has independent outputs,
so that a serial result always counts as failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from experiments.accuracy_report import report, summary
from experiments.command import Outcome, run_xpiler
from experiments.execution_kinds import describe
from experiments.records import Record, append, key_of, product_digest, read
from experiments.selection import Item, every, gate
from experiments.suite.execution import judge
from experiments.suite.registry import DIALECTS

GATE_JOBS = 2
Run = Callable[[Sequence[str], float], Outcome]


def key(item: Item, evidence: str, seed: int, product: str) -> str:
    """What a record is a result of: the case's text and options, and the product's code."""
    case = item.case
    return key_of(item.name, case.source.read_text(encoding="utf-8"), case.arguments, item.target, evidence, seed, product)


def measure(item: Item, evidence: str, seed: int, timeout: float, run: Run = run_xpiler) -> Record:
    """Translates one case, checks the result against numpy, and returns its record (without key)."""
    case = item.case
    options = ["--from", case.dialect, "--to", item.target, "--evidence", evidence, "--seed", str(seed)]
    outcome = run(["translate", str(case.source), *options, *case.arguments], timeout)
    record: Record = {
        "case": case.name,
        "operator": case.operator,
        "data": case.data.value,
        "canonical": case.canonical,
        "file": case.source.name,
        "from": case.dialect,
        "to": item.target,
        "required": evidence,
        "status": outcome.status,
        "exit_code": outcome.exit_code,
        "level": outcome.level,
        "outcomes": outcome.outcomes,
        "seconds": round(outcome.seconds, 3),
        "stages": outcome.result.get("seconds", {}),
        "structure": outcome.result.get("structure", {}),
        "trace": outcome.result.get("trace", []),
        "scaled": case.scaled,
        "scale_reason": case.reason,
        "dims": case.dims,
        "reason": outcome.reason if outcome.status != "ok" else "",
    }
    output = outcome.result.get("output")
    if outcome.status == "ok" and output:
        judgement = judge(case, output, item.target, seeds=(11, 12))
        record |= {
            "reference": "right" if judgement.right else "wrong",
            "reference_error": judgement.error if judgement.error != float("inf") else None,
            "reference_reason": judgement.reason[:500],
        }
    record["passed"] = passed(record)
    return record


def passed(record: Record) -> bool:
    """Whether a case counts as translated: evidence, structure and reference together."""
    return record["status"] == "ok" and record.get("reference") == "right" and not describe(record["structure"]).serial


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0 when every selected case passed, 1 otherwise."""
    options = _parse(argv)
    folder: Path = options.out
    product = product_digest()
    known = {record.get("key"): record for record in read(folder / "records.jsonl")}
    items = _selected(options)
    if not items:
        print("no case is selected", file=sys.stderr)
        return 1

    def work(item: Item) -> Record:
        identity = key(item, options.evidence, options.seed, product)
        found = known.get(identity)
        if found is None:
            found = measure(item, options.evidence, options.seed, options.timeout) | {"key": identity, "product": product}
        return found

    records: dict[str, Record] = {}
    for item, record in _as_completed(items, work, options.jobs):
        if record["key"] not in known:
            append(folder / "records.jsonl", record)
        records[item.name] = record
        mark = "pass" if record["passed"] else "FAIL"
        print(f"{mark}  {record['seconds']:6.1f} s  {record['status']:11}  {item.name} ({record['file']})", flush=True)
    ordered = [records[item.name] for item in items]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "accuracy.md").write_text(report(ordered), encoding="utf-8")
    print("\n".join(summary(ordered)))
    print(f"table: {folder / 'accuracy.md'}, records: {folder / 'records.jsonl'}")
    return 0 if all(record["passed"] for record in ordered) else 1


def _as_completed(items: Sequence[Item], work: Callable[[Item], Record], jobs: int) -> Iterator[tuple[Item, Record]]:
    """The records as they are finished, ``jobs`` of them under way at a time; the caller alone writes."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(work, item): item for item in items}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _selected(options: argparse.Namespace) -> list[Item]:
    items = gate(options.dialects) if options.gate else every(options.dialects)
    if options.only:
        items = [item for item in items if any(item.matches(pattern) for pattern in options.only)]
    return items[: options.limit]


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.accuracy", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--dialects", type=_names, default=list(DIALECTS), help=f"all directions among them (default: {','.join(DIALECTS)})"
    )
    parser.add_argument("--gate", action="store_true", help="every operator and direction once instead of every case")
    parser.add_argument(
        "--only", type=_names, default=[], metavar="PATTERN,...", help="of operators, cases, files, directions (cuda-hip) or cuda-hip/CASE"
    )
    parser.add_argument("--limit", type=int, help="at most so many cases")
    parser.add_argument("--jobs", type=int, help=f"cases at a time (default: 1, of the gate {GATE_JOBS})")
    parser.add_argument("--out", type=Path, default=Path("accuracy-results"), help="folder of records and table (default: %(default)s)")
    parser.add_argument("--evidence", default="L1", help="level asked for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds a case (default: %(default)s)")
    options = parser.parse_args(argv)
    if not set(options.dialects) <= set(DIALECTS) or len(set(options.dialects)) != len(options.dialects):
        parser.error(f"--dialects: the suite has sources in {', '.join(DIALECTS)}; each is named once")
    if len(options.dialects) < 2:
        parser.error("--dialects: two dialects or more are needed, as cuda,vnni")
    options.jobs = options.jobs or (GATE_JOBS if options.gate else 1)
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
