"""What people see: progress by stages, the trace, the evidence table, where the result went, and what to do next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from synth.errors import Diagnostic
from synth.evidence.levels import Evidence, Outcome
from xpiler.doctor import Check
from xpiler.results import Result, ResultStatus

OUTCOME_STYLE = {Outcome.SHOWN: "green", Outcome.REFUTED: "red", Outcome.NOT_SHOWN: "yellow", Outcome.NOT_TRIED: "dim"}


class Progress:
    """Prints each stage with the time it took; silent when the stream is not a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()

    def __call__(self, stage: str) -> None:
        if self._console.is_terminal:
            self._console.print(f"[dim]{time.monotonic() - self._started:6.1f} s  {escape(stage)}[/]")


def show_translation(console: Console, result: Result, written: Path | None) -> None:
    """The program (unless it went to a file), trace, evidence and next step."""
    _show_diagnostics(console, result.diagnostics)
    if result.output is not None and written is None and result.ok:
        if console.is_terminal:
            console.print(Syntax(result.output, "cpp", background_color="default"))
        else:
            console.out(result.output, highlight=False)
    if result.trace:
        console.print("[bold]trace[/]")
        for number, step in enumerate(result.trace, 1):
            console.print(f"  {number:2}  {escape(step)}", soft_wrap=True)
    _show_structure(console, result)
    _show_evidence(console, result.evidence)
    _show_tuning(console, result)
    if result.ok:
        place = f", written to {written}" if written else ""
        console.print(
            f"[green]ok[/] {result.entry}: {result.from_dialect} to {result.to_dialect} ({result.target}) in {_total(result)}{place}"
        )
    else:
        _show_failure(console, result)


def show_verification(console: Console, result: Result, other: str) -> None:
    """The verdict about two programs."""
    _show_diagnostics(console, result.diagnostics)
    _show_evidence(console, result.evidence)
    if result.ok:
        console.print(f"[green]ok[/] {result.source} and {other} agree on all tests ({_total(result)})", soft_wrap=True)
    else:
        _show_failure(console, result)


def _total(result: Result) -> str:
    return f"{result.seconds.get('total', 0.0):.1f} s"


def _show_failure(console: Console, result: Result) -> None:
    words = {
        ResultStatus.UNSUPPORTED: "not supported",
        ResultStatus.REFUTED: "refuted: the two programs differ",
        ResultStatus.NOT_SHOWN: f"not shown: {result.required.value} was not reached",
        ResultStatus.ERROR: "error",
    }
    console.print(f"[red]{words[result.status]}[/]")
    finding = result.evidence.refuted
    if finding:
        console.print(f"  {finding.level.value}: {escape(finding.summary)}", soft_wrap=True)


def _show_diagnostics(console: Console, diagnostics: Sequence[Diagnostic]) -> None:
    style = {"error": "red", "warning": "yellow", "note": "dim"}
    for d in diagnostics:
        place = f"{d.location}: " if d.location else ""
        console.print(f"{escape(place)}[{style[d.severity]}]{d.severity}:[/] {escape(d.message)}", soft_wrap=True)
        if d.hint:
            console.print(f"  {escape(d.hint)}", soft_wrap=True)


def _show_evidence(console: Console, evidence: Evidence) -> None:
    if not evidence.findings:
        return
    table = Table(title="evidence", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("level", "outcome", "what was found"):
        table.add_column(column)
    for finding in evidence.findings:
        table.add_row(finding.level.value, f"[{OUTCOME_STYLE[finding.outcome]}]{finding.outcome.value}[/]", escape(finding.summary))
    console.print(table)


def _show_structure(console: Console, result: Result) -> None:
    if result.structure:
        parts = (f"{name.replace('_', ' ')}: {_plain(value)}" for name, value in result.structure.items() if name != "launches")
        console.print(f"[bold]structure[/]  {escape('; '.join(parts))}", soft_wrap=True)
        for launch in result.structure.get("launches", ()):
            grid, block = (" x ".join(map(str, _without_ones(launch[name]))) for name in ("grid", "block"))
            shared = "dynamic" if launch["shared_bytes"] is None else f"{launch['shared_bytes']} bytes"
            units = ", tensor units" if launch["tensor_units"] else ""
            text = f"{launch['kernel']}: grid {grid}, block {block}, shared memory {shared}{units}"
            console.print(f"[bold]launch[/]  {escape(text)}", soft_wrap=True)


def _without_ones(sizes: list[object]) -> list[object]:
    """Dimensions up to the last that is not 1."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return kept


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _show_tuning(console: Console, result: Result) -> None:
    if result.tuning is None:
        return
    t = result.tuning
    speed = f"{t.speedup:.2f}x the default lowering (measured)" if t.speedup else "not timed"
    console.print(
        f"[bold]search[/]  {t.strategy}, proposals by {t.proposer}: {t.evaluations} points, {t.reused} from records; best is {speed}"
    )


def show_passes(console: Console) -> None:
    """Every registered pass with the first line of its documentation."""
    from synth.passes.registry import get, names

    table = Table(box=None, pad_edge=False)
    table.add_column("pass")
    table.add_column("what it does")
    for name in names():
        table.add_row(name, escape((get(name).__doc__ or "").strip().split("\n")[0]))
    console.print(table)


def show_devices(console: Console) -> None:
    """What was found on this machine, and the known targets."""
    from devices.probe import probe
    from synth.spec import SPECS

    table = Table(box=None, pad_edge=False)
    for column in ("device", "kind", "available", "detail"):
        table.add_column(column)
    for d in probe():
        table.add_row(d.name, d.kind, "yes" if d.available else "no", escape(d.detail))
    console.print(table)
    console.print("targets: " + ", ".join(f"{spec.name} ({spec.dialect})" for spec in SPECS.values()), soft_wrap=True)


def show_doctor(console: Console, checks: Sequence[Check]) -> None:
    """One line a check, with the remedy of what failed."""
    for check in checks:
        mark = "[green]ok[/]  " if check.ok else ("[red]fail[/]" if check.required else "[dim]none[/]")
        console.print(f"{mark}  {escape(check.name)}: {escape(check.detail)}", soft_wrap=True)
        if not check.ok and check.hint:
            console.print(f"      {escape(check.hint)}", soft_wrap=True)


def show_suite(console: Console) -> None:
    """The cases of every dialect, their files and definitions."""
    from experiments.suite.registry import CASES

    table = Table(box=None, pad_edge=False)
    for column in ("dialect", "case", "file", "options", "scaled"):
        table.add_column(column)
    for dialect, cases in CASES.items():
        for case in cases:
            table.add_row(dialect, case.name, case.source.name, " ".join(case.arguments), "yes" if case.scaled else "")
    console.print(table)
