"""Runs the suite's sources, untranslated, on their devices and compares them with numpy: ``python -m experiments.suite_check``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

from experiments.suite.execution import judge
from experiments.suite.registry import CASES, DIALECTS, VARIANTS, Case
from experiments.suite.small import small_case


def selected(dialects: Sequence[str], pattern: str, full: bool) -> Iterator[Case]:
    """Cases whose name, file or operator matches; at small sizes each source once."""
    for dialect in dialects:
        if full:
            candidates: Sequence[Case] = CASES[dialect]
        else:
            candidates = [small_case(operator, v, dialect) for operator, variants in VARIANTS[dialect].items() for v in variants]
        for case in candidates:
            if any(fnmatch(text, pattern) for text in (case.name, case.source.name, case.operator)):
                yield case


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0 when every selected source agrees with its reference, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m experiments.suite_check", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--dialects", default=",".join(DIALECTS), help="default: %(default)s")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="of names, files or operators (default: all)")
    parser.add_argument("--full", action="store_true", help="the sizes of the cases instead of small ones")
    options = parser.parse_args(argv)
    dialects = options.dialects.split(",")
    unknown = [name for name in dialects if name not in DIALECTS]
    if unknown:
        parser.error(f"--dialects: the suite has no sources in {', '.join(unknown)}; known: {', '.join(DIALECTS)}")
    wrong = total = 0
    for case in selected(dialects, options.only, options.full):
        started = time.monotonic()
        judgement = judge(case, case.source.read_text(encoding="utf-8"), case.dialect)
        total += 1
        wrong += not judgement.right
        mark = "right" if judgement.right else "WRONG"
        seconds = time.monotonic() - started
        print(f"{mark}  {judgement.error:8.1e}  {seconds:6.2f} s  {case.dialect:5} {case.source.name}  {case.name}", flush=True)
        if judgement.reason:
            print("       " + "\n       ".join(judgement.reason.splitlines()[:8]))
    print(f"{total - wrong} of {total} right")
    return 0 if total and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
