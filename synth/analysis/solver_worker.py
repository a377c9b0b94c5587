"""The solver worker: reads one query a line (JSON: SMT-LIB text, milliseconds), answers one line. A fresh Z3 solver per query.

Runs as a process of its own, because a Z3 timeout is best effort: the client kills this process at the wall-clock limit.
"""

from __future__ import annotations

import json
import sys


def answer(text: str, timeout_ms: int) -> dict[str, object]:
    """``{"result": "sat" | "unsat" | "unknown", "model": {name: value}}``."""
    import z3

    solver = z3.Solver()
    solver.set("timeout", timeout_ms)
    solver.from_string(text)
    result = str(solver.check())
    model: dict[str, int] = {}
    if result == "sat":
        found = solver.model()
        for declaration in found.decls():
            value = found[declaration]
            if z3.is_int_value(value):
                model[declaration.name()] = value.as_long()
    return {"result": result, "model": model}


def main() -> None:
    for line in sys.stdin:
        query = json.loads(line)
        print(json.dumps(answer(query["text"], query["timeout_ms"])), flush=True)


if __name__ == "__main__":
    main()
