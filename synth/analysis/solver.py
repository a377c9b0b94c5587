"""Integer questions for Z3, behind one small function. Queries are text; the solver lives in a process that is killed at the deadline.

Products of atoms become opaque (a fresh integer per monomial): dropping what is known about them can only lose proofs. Quotients
and remainders by literals of non-negative values get their defining facts.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path

from synth.analysis.constraints import OPPOSITE, constraints
from synth.analysis.linear import Env
from synth.analysis.polynomial import Atom, Monomial, Poly, atom_poly, const_poly
from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Const, Expr, Sym, Unary, Var

START_SECONDS = 20.0


class Proof(Enum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProofResult:
    """``model`` is a counterexample by printed atom when REFUTED, ``values`` the part of it about symbols; opaque products make it a hint,
    not a fact."""

    proof: Proof
    model: dict[str, int] = field(default_factory=dict)
    values: dict[Sym, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.proof is Proof.PROVED


def contradictory(env: Env, nonnegative: Sequence[Poly], zero: Sequence[Poly] = (), *, timeout_ms: int = 2000) -> ProofResult:
    """Whether ``nonnegative >= 0`` and ``zero == 0`` cannot all hold under the ranges and facts of ``env``. PROVED means impossible."""
    writer = _Writer(env)
    lines = [f"(assert (>= {writer.poly(p)} 0))" for p in (*env.facts, *env.current, *nonnegative)]
    lines += [f"(assert (= {writer.poly(p)} 0))" for p in zero]
    text = "\n".join([*writer.declarations(), *lines, "(check-sat)"])
    result, model = _ask(text, timeout_ms)
    if result == "unsat":
        return ProofResult(Proof.PROVED)
    if result == "sat":
        spelled = {writer.spelled[name]: value for name, value in model if name in writer.spelled}
        return ProofResult(Proof.REFUTED, spelled, {writer.symbols[name]: value for name, value in model if name in writer.symbols})
    return ProofResult(Proof.UNKNOWN)


def prove(known: Env | Sequence[Expr], goal: Expr, *, timeout_ms: int = 2000) -> ProofResult:
    """Whether a boolean expression (integer comparisons joined by and, or, not) holds under an environment, or under facts given as
    expressions. What is no integer statement is UNKNOWN."""
    env = known if isinstance(known, Env) else _env_of(known)
    return _prove(env, goal, True, timeout_ms)


def _env_of(facts: Sequence[Expr]) -> Env:
    env = Env()
    for fact in facts:
        env = env.with_fact(fact)
    return env


def _prove(env: Env, goal: Expr, wanted: bool, timeout_ms: int) -> ProofResult:
    """Whether ``goal`` has the value ``wanted``."""
    match goal:
        case Const(value=bool() as value):
            return ProofResult(Proof.PROVED if value is wanted else Proof.REFUTED)
        case Unary(op="lnot"):
            return _prove(env, goal.a, not wanted, timeout_ms)
        case Var(sym=sym) if sym in env.lets and env.stable(env.lets[sym]):
            return _prove(env, env.lets[sym], wanted, timeout_ms)
        case Binary(op="land" | "and" | "lor" | "or") if goal.type is DType.BOOL:
            if (goal.op in ("land", "and")) is wanted:
                parts = [_prove(env, part, wanted, timeout_ms) for part in (goal.a, goal.b)]
                return next((p for p in parts if not p), parts[0])
            return _either(env, goal, wanted, timeout_ms)
        case Binary(op="lt" | "le" | "gt" | "ge" | "eq" | "ne") if isinstance(goal.a.type, DType) and not goal.a.type.is_float:
            return _compared(env, goal if wanted else Binary(OPPOSITE[goal.op], goal.a, goal.b), timeout_ms)
        case _:
            return ProofResult(Proof.UNKNOWN)


def _either(env: Env, goal: Binary, wanted: bool, timeout_ms: int) -> ProofResult:
    """Whether one of two parts has the value ``wanted``: the second does where the first does not, or the other way round."""
    refuted = True
    for first, second in ((goal.a, goal.b), (goal.b, goal.a)):
        result = _prove(env.with_fact(first, not wanted), second, wanted, timeout_ms)
        if result:
            return result
        # A counterexample counts only if all that the premise says went into it.
        refuted = refuted and result.proof is Proof.REFUTED and _is_comparison(first)
    return ProofResult(Proof.REFUTED, result.model, result.values) if refuted else ProofResult(Proof.UNKNOWN)


def _is_comparison(e: Expr) -> bool:
    return isinstance(e, Binary) and e.op in ("lt", "le", "gt", "ge")


def _compared(env: Env, goal: Binary, timeout_ms: int) -> ProofResult:
    difference = env.normal(goal.a) - env.normal(goal.b)
    match goal.op:
        case "ne":
            return contradictory(env, (), (difference,), timeout_ms=timeout_ms)
        case "eq":
            if difference.constant == 0:
                return ProofResult(Proof.PROVED)
            above = contradictory(env, (difference - const_poly(1),), timeout_ms=timeout_ms)
            return above if not above else contradictory(env, (-difference - const_poly(1),), timeout_ms=timeout_ms)
        case _:
            if all(env.never_negative(p) for p in constraints(goal, True, env)):
                return ProofResult(Proof.PROVED)
            return contradictory(env, tuple(constraints(goal, False, env)), timeout_ms=timeout_ms)


class _Writer:
    """Polynomials as SMT-LIB terms, each atom and each product of atoms an integer constant."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._names: dict[Monomial, str] = {}
        self._lines: list[str] = []
        self.spelled: dict[str, str] = {}
        self.symbols: dict[str, Sym] = {}

    def declarations(self) -> list[str]:
        return self._lines

    def poly(self, poly: Poly) -> str:
        terms = [str(c) if c >= 0 else f"(- {-c})" for m, c in poly.terms.items() if m == ()]
        for monomial, c in poly.terms.items():
            if monomial:
                name = self._name(monomial)
                terms.append(name if c == 1 else f"(* {c if c >= 0 else f'(- {-c})'} {name})")
        if not terms:
            return "0"
        return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"

    def _name(self, monomial: Monomial) -> str:
        if monomial not in self._names:
            name = f"x{len(self._names)}"
            self._names[monomial] = name
            self.spelled[name] = " * ".join(_spell(atom) for atom in monomial)
            if len(monomial) == 1 and isinstance(monomial[0], Var):
                self.symbols[name] = monomial[0].sym
            self._lines.append(f"(declare-const {name} Int)")
            known = self._env.bounds(Poly({monomial: 1}))
            self._bound(name, known.lo, known.hi)
            if len(monomial) == 1:
                self._define(name, monomial[0])
        return self._names[monomial]

    def _bound(self, name: str, lo: int | None, hi: int | None) -> None:
        if lo is not None:
            self._lines.append(f"(assert (>= {name} {lo if lo >= 0 else f'(- {-lo})'}))")
        if hi is not None:
            self._lines.append(f"(assert (<= {name} {hi if hi >= 0 else f'(- {-hi})'}))")

    def _define(self, name: str, atom: Atom) -> None:
        """``q = a / d`` and ``r = a % d`` by a literal: ``d*q <= a < d*q + d`` for ``a >= 0``, mirrored below 0, ``r = a - d*q``; a
        minimum is its
        smaller operand."""
        if isinstance(atom, Binary) and atom.op in ("min", "max"):
            a, b = self.poly(self._env.normal(atom.a)), self.poly(self._env.normal(atom.b))
            order = "<=" if atom.op == "min" else ">="
            self._lines.append(f"(assert (and ({order} {name} {a}) ({order} {name} {b}) (or (= {name} {a}) (= {name} {b}))))")
            return
        if not (isinstance(atom, Binary) and atom.op in ("div", "mod") and isinstance(atom.b, Const)):
            return
        lo, d = self._env.range_of(atom.a).lo, int(atom.b.value)
        if d <= 0:
            return
        a = self.poly(self._env.normal(atom.a))
        if atom.op == "div":
            down = f"(and (<= (* {d} {name}) {a}) (< {a} (+ (* {d} {name}) {d})))"
            up = f"(and (>= (* {d} {name}) {a}) (> {a} (- (* {d} {name}) {d})))"
            whole = down if lo is not None and lo >= 0 else f"(ite (>= {a} 0) {down} {up})"
            self._lines.append(f"(assert {whole})")
        else:
            quotient = self.poly(atom_poly(Binary("div", atom.a, atom.b)))
            self._lines.append(f"(assert (= {name} (- {a} (* {d} {quotient}))))")


def _spell(atom: Atom) -> str:
    from synth.ir.text import print_expr

    return print_expr(atom)


@lru_cache(maxsize=20000)
def _ask(text: str, timeout_ms: int) -> tuple[str, tuple[tuple[str, int], ...]]:
    return _worker().ask(text, timeout_ms)


class _Worker:
    """One worker process of this process; a forked child starts its own."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""

    def ask(self, text: str, timeout_ms: int) -> tuple[str, tuple[tuple[str, int], ...]]:
        """The answer (``sat``, ``unsat``, ``unknown``) and a model; threads take turns."""
        with self._turn:
            return self._ask(text, timeout_ms)

    def _ask(self, text: str, timeout_ms: int) -> tuple[str, tuple[tuple[str, int], ...]]:
        fresh = self._process is None or self._process.poll() is not None
        if fresh:
            self._start()
        process = self._process
        if process is None or process.stdin is None:
            return "unknown", ()
        try:
            process.stdin.write(json.dumps({"text": text, "timeout_ms": timeout_ms}).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            return "unknown", ()
        line = self._read_line(timeout_ms / 1000 + 1.0 + (START_SECONDS if fresh else 0.0))
        if line is None:
            self.close()
            return "unknown", ()
        reply = json.loads(line)
        return str(reply["result"]), tuple(sorted(reply["model"].items()))

    def _start(self) -> None:
        command = [sys.executable, "-m", "synth.analysis.solver_worker"]
        self._buffer = b""
        # The worker finds this package wherever this process found it.
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env=environment)

    def _read_line(self, seconds: float) -> bytes | None:
        """One line, or None at the deadline or when the worker is gone."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                return None
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def close(self) -> None:
        """Kills the worker, if it is this process's own."""
        if self._process is not None and self._pid == os.getpid():
            self._process.kill()
            self._process.wait()
        self._process = None


_workers: dict[int, _Worker] = {}


def _worker() -> _Worker:
    pid = os.getpid()
    if pid not in _workers:
        _workers.clear()
        _workers[pid] = _Worker()
        atexit.register(_workers[pid].close)
    return _workers[pid]
