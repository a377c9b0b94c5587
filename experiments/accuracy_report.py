"""The report of an accuracy run, in markdown: rates by direction and operator, failures with their reasons, and every case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from experiments.execution_kinds import describe
from experiments.records import Record
from experiments.suite.shapes import EXTRA, OPERATORS

MEDIAN_LIMIT, LONGEST_LIMIT = 5.0, 60.0  # seconds, of the acceptance
REASON_LENGTH = 200


def report(records: Sequence[Record]) -> str:
    """Summary, table by direction and operator, failures, all cases."""
    if not records:
        return "No cases.\n"
    parts = [*summary(records), "", "## Passed by operator and direction", "", *_matrix(records)]
    parts += ["", "## Failures", "", *_failures(records), "", "## Cases", "", *_table(records)]
    return "\n".join([*parts, ""])


def summary(records: Sequence[Record]) -> list[str]:
    """Totals, times, structure; all records are in the denominators."""
    count = len(records)
    good = sum(record["passed"] for record in records)
    statuses = Counter(record["status"] for record in records)
    shown = {level: sum(outcome_of(record, level) == "shown" for record in records) for level in ("L0", "L1")}
    seconds = [record["seconds"] for record in records]
    canonical = [record for record in records if record["canonical"]]
    wrong = sum(record["status"] == "ok" and record.get("reference") == "wrong" for record in records)
    lines = [
        f"Passed: **{good} of {count}** ({100 * good / count:.1f}%); "
        f"status: {', '.join(f'{name} {number}' for name, number in sorted(statuses.items()))}.",
        "",
        f"Of these canonical (21 operators, float32): {sum(r['passed'] for r in canonical)} of {len(canonical)}; "
        f"integer, half and flash attention: {good - sum(r['passed'] for r in canonical)} of {count - len(canonical)}.",
        "",
        f"Said to be right by the command and wrong by numpy: {wrong}.",
        "",
        f"Shown: {', '.join(f'{level} in {number}' for level, number in shown.items())} of {count}.",
        "",
        f"Seconds a case (process start included): median {median(seconds):.1f} (limit {MEDIAN_LIMIT:g}), longest {max(seconds):.1f} "
        f"(limit {LONGEST_LIMIT:g}), beyond that limit {sum(s > LONGEST_LIMIT for s in seconds)}.",
        "",
        f"Scaled cases: {sum(record['scaled'] for record in records)}; serial results: {sum(map(_is_serial_result, records))}; "
        f"results with tensor units: {sum(describe(record['structure']).tensor_units for record in records)}.",
    ]
    for direction in _directions(records):
        own = [record for record in records if direction_of(record) == direction]
        times = [record["seconds"] for record in own]
        lines += [
            "",
            f"- {direction}: {sum(r['passed'] for r in own)} of {len(own)}, median {median(times):.1f} s, longest {max(times):.1f} s",
        ]
    return lines


def direction_of(record: Record) -> str:
    return f"{record['from']} to {record['to']}"


def outcome_of(record: Record, level: str) -> str:
    """``shown``, ``refuted``, ``not_shown`` or ``not_tried``; also of records that ended before that level."""
    return str(record.get("outcomes", {}).get(level, "not_tried"))


def _directions(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(map(direction_of, records)))


def _is_serial_result(record: Record) -> bool:
    return record["status"] == "ok" and describe(record["structure"]).serial


def _matrix(records: Sequence[Record]) -> list[str]:
    """A row an operator (other data than float32 apart), a column a direction: passed of all, and the median seconds."""
    columns = _directions(records)
    lines = [f"| operator | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    groups = dict.fromkeys((name, data) for data in ("f32", "f16", "u8s8", "s8s8") for name in (*OPERATORS, *EXTRA))
    for operator, data in groups:
        own = [record for record in records if (record["operator"], record["data"]) == (operator, data)]
        if not own:
            continue
        cells = []
        for column in columns:
            there = [record for record in own if direction_of(record) == column]
            passing = sum(record["passed"] for record in there)
            cells.append(f"{passing} of {len(there)}, {median(r['seconds'] for r in there):.1f} s" if there else "")
        lines.append(f"| {operator}{'' if data == 'f32' else f' ({data})'} | {' | '.join(cells)} |")
    return lines


def _failures(records: Sequence[Record]) -> list[str]:
    failed = [record for record in records if not record["passed"]]
    if not failed:
        return ["None."]
    lines = ["| direction | case | source | status | reason |", "| --- | --- | --- | --- | --- |"]
    for record in failed:
        cells = (direction_of(record), record["case"], record["file"], record["status"], failure(record))
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def failure(record: Record) -> str:
    """Why a record did not pass, in one line."""
    if record["status"] != "ok":
        return str(record["reason"]).strip().split("\n")[0] or "no reason given"
    if record.get("reference") != "right":
        error = record.get("reference_error")
        return f"numpy disagrees: {record.get('reference_reason') or f'error {error:.1e}' if error is not None else 'not finite'}"
    return "serial result"


def _table(records: Sequence[Record]) -> list[str]:
    lines = [
        "| direction | case | source | status | L0 | L1 | how it runs | reference error | seconds | note |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | ---: | --- |",
    ]
    return lines + [_row(record) for record in records]


def _row(record: Record) -> str:
    error = record.get("reference_error")
    shown = "not run" if "reference" not in record else f"{record['reference']} ({error:.1e})" if error is not None else record["reference"]
    notes = [f"scaled: {record['scale_reason']}"] if record["scaled"] else []
    notes += [] if record["passed"] else [failure(record)]
    how = describe(record["structure"]).text if record["status"] == "ok" else ""
    levels = [outcome_of(record, level) for level in ("L0", "L1")]
    cells = (direction_of(record), record["case"], record["file"], record["status"], *levels, how, shown, f"{record['seconds']:.1f}")
    return f"| {' | '.join(map(_cell, (*cells, '; '.join(notes))))} |"


def _cell(text: str) -> str:
    return " ".join(str(text).split())[:REASON_LENGTH].replace("|", "\\|")
