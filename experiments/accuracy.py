"""Translates every case of the suite with the ``xpiler`` command and writes the table: ``python -m experiments.accuracy``.

A case passes when the command says ok with the evidence that was asked for, the result is parallel or vectorised, and the result
agrees with the independent numpy reference. Every rate has all cases in its denominator.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from experiments.command import Outcome, run_xpiler
from experiments.execution_kinds import describe
from experiments.records import Record, append, key_of, product_digest, read
from experiments.suite.execution import judge
from experiments.suite.registry import CASES, Case
from experiments.suite.shapes import OPERATORS

SOURCE_DIALECT = "cuda"
MEDIAN_LIMIT, LONGEST_LIMIT = 5.0, 60.0  # seconds, from the acceptance of the first slice
Run = Callable[[Sequence[str], float], Outcome]


def select(operators: Sequence[str], limit: int | None) -> list[Case]:
    """Cases of the named operators (all when empty), at most ``limit`` of them."""
    chosen = [case for case in CASES["cuda"] if not operators or case.operator in operators]
    return chosen[:limit]


def key(case: Case, target: str, evidence: str, seed: int, product: str) -> str:
    """What a record is a result of: the case's text and options, and the product's code."""
    return key_of(case.name, case.source.read_text(encoding="utf-8"), case.arguments, target, evidence, seed, product)


def measure(case: Case, target: str, evidence: str, seed: int, timeout: float, run: Run = run_xpiler) -> Record:
    """Translates one case, checks the result against numpy, and returns its record (without key)."""
    arguments = ["translate", str(case.source), "--to", target, "--evidence", evidence, "--seed", str(seed), *case.arguments]
    outcome = run(arguments, timeout)
    record: Record = {
        "case": case.name,
        "operator": case.operator,
        "file": case.source.name,
        "from": SOURCE_DIALECT,
        "to": target,
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
        judgement = judge(case, output, target, seeds=(11, 12))
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


def table(records: Sequence[Record]) -> str:
    """The markdown report of the records: a row a case, then totals."""
    lines = [
        "| case | source | status | L0 | L1 | parallel / vector | reference error | seconds | note |",
        "| --- | --- | --- | --- | --- | --- | --- | ---: | --- |",
    ]
    lines += [_row(record) for record in records]
    return "\n".join([*lines, "", *_totals(records), ""])


def _row(record: Record) -> str:
    structure = describe(record["structure"])
    error = record.get("reference_error")
    shown = "not run" if "reference" not in record else f"{record['reference']} ({error:.1e})" if error is not None else record["reference"]
    notes = [f"scaled: {record['scale_reason']}"] if record["scaled"] else []
    notes += ["serial result"] if record["status"] == "ok" and structure.serial else []
    notes += [record["reason"].splitlines()[0][:160]] if record["reason"] else []
    note = "; ".join(notes).replace("|", "\\|")
    levels = [outcome_of(record, level) for level in ("L0", "L1")]
    cells = (record["case"], record["file"], record["status"], *levels, structure.text, shown, f"{record['seconds']:.1f}", note)
    return f"| {' | '.join(cells)} |"


def outcome_of(record: Record, level: str) -> str:
    """``shown``, ``refuted``, ``not_shown`` or ``not_tried``; also of records that ended before that level."""
    return str(record.get("outcomes", {}).get(level, "not_tried"))


def _totals(records: Sequence[Record]) -> list[str]:
    if not records:
        return ["No cases."]
    seconds = [record["seconds"] for record in records]
    middle, longest = median(seconds), max(seconds)
    count = len(records)
    good = sum(record["passed"] for record in records)
    statuses: dict[str, int] = {}
    for record in records:
        statuses[record["status"]] = statuses.get(record["status"], 0) + 1
    shown = {level: sum(outcome_of(record, level) == "shown" for record in records) for level in ("L0", "L1")}
    lines = [
        f"Passed: **{good} of {count}** ({100 * good / count:.1f}%); "
        f"status: {', '.join(f'{name} {number}' for name, number in sorted(statuses.items()))}.",
        "",
        f"Shown: {', '.join(f'{level} in {number}' for level, number in shown.items())} of {count}.",
        "",
        f"Seconds a case (process start included): median {middle:.1f} (limit {MEDIAN_LIMIT:g}), longest {longest:.1f} "
        f"(limit {LONGEST_LIMIT:g}).",
        "",
        f"Scaled cases: {sum(record['scaled'] for record in records)}; serial results: "
        f"{sum(record['status'] == 'ok' and describe(record['structure']).serial for record in records)}.",
    ]
    for operator in OPERATORS:
        own = [record for record in records if record["operator"] == operator]
        if own:
            times = [record["seconds"] for record in own]
            lines += ["", f"- {operator}: {sum(r['passed'] for r in own)} of {len(own)}, median {median(times):.1f} s"]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0 when every selected case passed, 1 otherwise."""
    options = _parse(argv)
    folder: Path = options.out
    product = product_digest()
    known = {record.get("key"): record for record in read(folder / "records.jsonl")}
    records: list[Record] = []
    for target in options.targets:
        for case in select(options.ops, options.limit):
            identity = key(case, target, options.evidence, options.seed, product)
            record = known.get(identity)
            if record is None:
                record = measure(case, target, options.evidence, options.seed, options.timeout) | {"key": identity, "product": product}
                append(folder / "records.jsonl", record)
            records.append(record)
            mark = "pass" if record["passed"] else "FAIL"
            print(f"{mark}  {record['seconds']:6.1f} s  {record['status']:11}  {case.name} ({case.source.name})", flush=True)
    text = table(records)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "accuracy.md").write_text(text, encoding="utf-8")
    print("\n".join(_totals(records)))
    print(f"table: {folder / 'accuracy.md'}, records: {folder / 'records.jsonl'}")
    return 0 if records and all(record["passed"] for record in records) else 1


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.accuracy", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dialects", default="cuda,vnni", help="source and target dialects, the source first (default: %(default)s)")
    parser.add_argument("--ops", type=_names, default=[], help=f"operators, of {','.join(OPERATORS)} (default: all)")
    parser.add_argument("--limit", type=int, help="at most so many cases")
    parser.add_argument("--out", type=Path, default=Path("accuracy-results"), help="folder of records and table (default: %(default)s)")
    parser.add_argument("--evidence", default="L1", help="level asked for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds a case (default: %(default)s)")
    options = parser.parse_args(argv)
    dialects = _names(options.dialects)
    if dialects[:1] != [SOURCE_DIALECT] or dialects[1:] != ["vnni"]:
        parser.error(f"--dialects {options.dialects}: the suite has cuda sources, and this version translates them to vnni")
    options.targets = dialects[1:]
    unknown = [name for name in options.ops if name not in OPERATORS]
    if unknown:
        parser.error(f"--ops: no operator named {', '.join(unknown)}; known: {', '.join(OPERATORS)}")
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    sys.exit(main())
