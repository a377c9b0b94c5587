"""How many wrong programs does ``xpiler verify`` refute? ``python -m experiments.mutants``.

Mutants of the suite's sources and of translated results are labelled by the numpy references (which the product does not know): *wrong*
where some input shows it or the program fails, *equivalent* where all inputs agree, *invalid* where it does not compile. The rate has all
wrong mutants in its denominator; survivors are listed with their change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from devices.status import Status
from experiments.command import Outcome, run_xpiler
from experiments.mutation import Mutant, mutants, sample
from experiments.records import Record, append, key_of, product_digest, read
from experiments.suite.execution import judge_on
from experiments.suite.references import TOLERANCE, Array, make_inputs
from experiments.suite.registry import VARIANTS, Case
from experiments.suite.shapes import OPERATORS, Dims
from experiments.suite.small import small_case
from experiments.suite.variant import Data

PER_PROGRAM = 40
Run = Callable[[Sequence[str], float], Outcome]


@dataclass(frozen=True, slots=True)
class Original:
    """A right program: a source of the suite (``cuda``) or a result of translating it (``vnni``)."""

    case: Case
    dialect: str
    text: str

    @property
    def name(self) -> str:
        return self.case.source.name if self.dialect == "cuda" else self.case.source.stem + ".c"


def input_families(operator: str, dims: Dims) -> dict[str, dict[str, Array]]:
    """The inputs by which mutants are labelled; finite float32 tensors."""
    families = {f"random {seed}": make_inputs(operator, dims, seed) for seed in (1, 2, 3)}
    base = families["random 1"]
    changes: dict[str, Callable[[Array], Array]] = {
        "negative": lambda x: -np.abs(x) - np.float32(0.1),
        "positive": lambda x: np.abs(x) + np.float32(0.1),
        "small": lambda x: x * np.float32(1e-5),
        "zeros": np.zeros_like,
    }
    families |= {name: _changed(base, change) for name, change in changes.items()}
    # Where the exponential overflows: whether it does may depend on single elements, so more of them.
    large = {f"large {seed}": make_inputs(operator, dims, seed) for seed in (4, 5, 6, 7)}
    families |= {name: _changed(values, lambda x: x * np.float32(1000)) for name, values in large.items()}
    return families | {f"peaks {shift}": _changed(base, partial(_peaks, shift=shift)) for shift in range(4)}


def _changed(inputs: dict[str, Array], change: Callable[[Array], Array]) -> dict[str, Array]:
    """The float tensors changed; integers say where others lie, and stay."""
    return {name: change(x) if x.dtype.kind == "f" else x for name, x in inputs.items()}


def _peaks(x: Array, shift: int) -> Array:
    """One element of every row stands out by 300, another one in each row, from the last on: whether a reduction sees it shows."""
    rows = x.reshape(-1, x.shape[-1]).copy()
    numbers = np.arange(len(rows))
    rows[numbers, -1 - (4 * numbers + shift) % rows.shape[1]] += np.float32(300)
    return rows.reshape(x.shape)


def fair_inputs(original: Original) -> list[dict[str, Array]]:
    """The families on which the original itself agrees with the reference: only these can say that a mutant is wrong."""
    families = input_families(original.case.operator, original.case.dims)
    return [values for values in families.values() if judge_on(original.case, original.text, original.dialect, [values]).right]


def label(original: Original, mutant: Mutant, inputs: Sequence[dict[str, Array]]) -> tuple[str, str]:
    """``wrong``, ``equivalent`` or ``invalid``, and why."""
    judgement = judge_on(original.case, mutant.text, original.dialect, inputs, timeout=20.0)
    if judgement.status is Status.COMPILE_ERROR:
        return "invalid", judgement.reason[:300]
    if judgement.status is not Status.OK:
        return "wrong", f"{judgement.status.value}: {judgement.reason[:300]}"
    if judgement.error > TOLERANCE:
        return "wrong", f"error {judgement.error:.1e} of the output's scale"
    return "equivalent", f"error {judgement.error:.1e} on {len(inputs)} inputs"


def originals(operators: Sequence[str], folder: Path, seed: int, run: Run, product: str) -> Iterator[Original]:
    """Every source of the operators, and the translation of each operator's first two sources."""
    for operator in operators:
        for number, variant in enumerate(v for v in VARIANTS["cuda"][operator] if v.data is Data.F32):
            case = small_case(operator, variant)
            yield Original(case, "cuda", case.source.read_text(encoding="utf-8"))
            if number < 2:
                text = _translated(case, folder, seed, run, product)
                if text is not None:
                    yield Original(case, "vnni", text)


def _translated(case: Case, folder: Path, seed: int, run: Run, product: str) -> str | None:
    """The result for a case, kept in ``folder`` so that a resumed run mutates the same text."""
    identity = key_of(case.source.read_text(encoding="utf-8"), case.arguments, seed, product)
    kept = folder / "results" / f"{case.source.stem}-{identity}.c"
    if not kept.exists():
        outcome = run(["translate", str(case.source), "--to", "vnni", "--seed", str(seed), *case.arguments], 120)
        if outcome.status != "ok":
            print(f"  {case.source.name} does not translate: {outcome.status}: {outcome.reason[:200]}", flush=True)
            return None
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(outcome.result["output"], encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def schedule(programs: Sequence[Original], seed: int) -> Iterator[tuple[Original, Mutant]]:
    """The mutants in the order they are tried: one of each program, then the next one of each. Deterministic in ``seed``."""
    queues = [(p, sample(list(mutants(p.text, p.case.entry, p.dialect)), PER_PROGRAM, seed)) for p in programs]
    for position in range(PER_PROGRAM):
        for program, queue in queues:
            if position < len(queue):
                yield program, queue[position]


def measure(original: Original, mutant: Mutant, inputs: Sequence[dict[str, Array]], folder: Path, identity: str, run: Run) -> Record:
    """Labels a mutant and asks ``xpiler verify`` about it."""
    verdict, reason = label(original, mutant, inputs)
    record: Record = {
        "program": original.name,
        "rule": mutant.rule,
        "line": mutant.line,
        "before": mutant.before,
        "after": mutant.after,
        "label": verdict,
        "label_reason": reason,
    }
    if verdict == "invalid":
        return record
    path = folder / "mutants" / (f"{identity}.cu" if original.dialect == "cuda" else f"{identity}.c")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mutant.text, encoding="utf-8")
    outcome = run(["verify", str(original.case.source), str(path), *original.case.arguments], 180)
    return record | {
        "status": outcome.status,
        "reason": outcome.reason[:600] if outcome.status != "ok" else "",
        "seconds": round(outcome.seconds, 3),
        "file": str(path),
    }


def report(records: Sequence[Record]) -> str:
    """Rates and survivors, in markdown."""
    wrong = [r for r in records if r["label"] == "wrong"]
    refuted = [r for r in wrong if r["status"] == "refuted"]
    equivalent = [r for r in records if r["label"] == "equivalent"]
    invalid = sum(r["label"] == "invalid" for r in records)
    rate = f"{100 * len(refuted) / len(wrong):.1f}%" if wrong else "no wrong mutants"
    lines = [
        f"Wrong mutants refuted: **{len(refuted)} of {len(wrong)}** ({rate}).",
        "",
        f"Equivalent mutants: {len(equivalent)}, of which accepted {sum(r['status'] == 'ok' for r in equivalent)}; "
        f"invalid (do not compile): {invalid}.",
        "",
        "## Wrong, and not refuted",
        "",
        *_rows([r for r in wrong if r["status"] != "refuted"]),
        "",
        "## Equivalent by the reference, and not accepted",
        "",
        *_rows([r for r in equivalent if r["status"] != "ok"]),
        "",
        "## By rule",
        "",
        "| rule | wrong | refuted |",
        "| --- | ---: | ---: |",
    ]
    for rule in sorted({r["rule"] for r in wrong}):
        own = [r for r in wrong if r["rule"] == rule]
        lines.append(f"| {rule} | {len(own)} | {sum(r['status'] == 'refuted' for r in own)} |")
    return "\n".join([*lines, ""])


def _rows(records: Sequence[Record]) -> list[str]:
    if not records:
        return ["None."]
    lines = ["| program | line | change | label | verify said |", "| --- | ---: | --- | --- | --- |"]
    for r in records:
        cells = (r["program"], str(r["line"]), f"`{r['before']}` to `{r['after']}`", r["label_reason"], f"{r['status']}: {r['reason']}")
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ')[:300] for cell in cells)} |")
    return lines


def main(argv: Sequence[str] | None = None, run: Run = run_xpiler) -> int:
    """Exit status 0 when at least 99% of the wrong mutants were refuted, 1 otherwise."""
    options = _parse(argv)
    folder: Path = options.out
    product = product_digest()
    known = {record.get("key"): record for record in read(folder / "records.jsonl")}
    dialects = {"sources": ("cuda",), "results": ("vnni",), "all": ("cuda", "vnni")}[options.of]
    programs = [p for p in originals(options.ops, folder, options.seed, run, product) if p.dialect in dialects]
    inputs: dict[str, list[dict[str, Array]]] = {}
    records: list[Record] = []
    wrong = 0
    for original, mutant in schedule(programs, options.seed):
        if wrong >= options.wrong:
            break
        identity = key_of(original.case.source.read_text(encoding="utf-8"), mutant.text, original.case.arguments, product)
        record = known.get(identity)
        if record is None:
            if original.name not in inputs:
                inputs[original.name] = fair_inputs(original)
            record = measure(original, mutant, inputs[original.name], folder, identity, run) | {"key": identity, "product": product}
            append(folder / "records.jsonl", record)
        records.append(record)
        wrong += record["label"] == "wrong"
        print(f"{record['label']:10} {record.get('status', '-'):11} {record['program']}:{record['line']} {record['rule']}", flush=True)
    text = report(records)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mutants.md").write_text(text, encoding="utf-8")
    print(text.split("\n## By rule")[0])
    survivors = sum(r["label"] == "wrong" and r["status"] != "refuted" for r in records)
    return 0 if wrong and survivors <= wrong * 0.01 else 1


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--wrong", type=int, default=100, help="stop after so many wrong mutants (default: %(default)s)")
    parser.add_argument("--ops", type=lambda text: text.split(","), default=list(OPERATORS), help="operators (default: all)")
    parser.add_argument("--of", choices=("all", "sources", "results"), default="all", help="what is mutated (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("mutants-results"), help="folder of records and report (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    unknown = [name for name in options.ops if name not in OPERATORS]
    if unknown:
        parser.error(f"--ops: no operator named {', '.join(unknown)}; known: {', '.join(OPERATORS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
