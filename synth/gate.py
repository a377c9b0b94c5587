"""The IR gate: a model's text becomes a module, or is refused. Nothing of it is compiled; only what we print from the module is.

The gate reads the text with our own frontend (which knows no system call, no include outside our folder, no inline assembly), wants the
same entry and parameters as the reference, and holds the module to static limits, so that what is printed from it terminates in
reasonable time and space."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from synth import frontend
from synth.errors import UnsupportedError
from synth.ir import verifier
from synth.ir.builder import int_value
from synth.ir.dtypes import lanes, scalar
from synth.ir.grammar import Alloc, Body, Call, For, Launch, Module, While
from synth.ir.traversal import bodies, walk
from synth.source import ReadOptions, Source

_FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GateLimits:
    """``work_factor`` bounds the executed statements, statically estimated, relative to the reference's."""

    text_bytes: int = 64 * 1024
    statements: int = 2000
    loop_depth: int = 12
    array_bytes: int = 64 << 20
    work_factor: float = 64.0
    unknown_trips: int = 1024


def admit(answer: str, reference: Module, limits: GateLimits | None = None) -> Module:
    """The module of a model's answer. Raises XpilerError (SourceError, UnsupportedError) with the reason of refusal."""
    limits = limits or GateLimits()
    text = code_of(answer)
    if len(text.encode()) > limits.text_bytes:
        raise UnsupportedError(f"the rewritten program has more than {limits.text_bytes} bytes")
    if "#" in _without_literals(text):
        raise UnsupportedError("the rewritten program contains preprocessor directives", hint="plain C functions only")
    module = frontend.read(Source(text, "vnni", "model-answer.cpp"), ReadOptions(entry=reference.name)).module
    verifier.check(module)
    _same_signature(module, reference)
    _within_limits(module, reference, limits)
    return module


def code_of(answer: str) -> str:
    """The program in an answer: the first fenced block, or all of it."""
    fenced = _FENCE.search(answer)
    return fenced.group(1) if fenced else answer


def _without_literals(text: str) -> str:
    """The text without string literals, comments and OpenMP pragmas, which the frontend reads itself."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", " ", text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b[^\n]*", " ", text, flags=re.MULTILINE)


def _same_signature(module: Module, reference: Module) -> None:
    def shape(m: Module) -> list[tuple[object, bool]]:
        return [(p.dtype, p.is_buffer) for p in m.params]

    if module.name != reference.name or shape(module) != shape(reference):
        raise UnsupportedError("the rewritten program has another name or other parameters", hint="keep the signature")


def _within_limits(module: Module, reference: Module, limits: GateLimits) -> None:
    statements = list(walk(module.body))
    if len(statements) > limits.statements:
        raise UnsupportedError(f"the rewritten program has more than {limits.statements} statements")
    for statement in statements:
        if isinstance(statement, While):
            raise UnsupportedError("the rewritten program has a loop that is not counted", statement.loc, "use for loops with fixed bounds")
        if isinstance(statement, Launch | Call):
            raise UnsupportedError("the rewritten program has more than loops and arithmetic", statement.loc)
        if isinstance(statement, Alloc):
            _check_array(statement, limits)
    if _depth(module.body) > limits.loop_depth:
        raise UnsupportedError(f"the rewritten program nests loops deeper than {limits.loop_depth}")
    allowed = limits.work_factor * _work(reference.body, limits) + 1e6
    if _work(module.body, limits) > allowed:
        raise UnsupportedError("the rewritten program does far more work than the original")


def _check_array(array: Alloc, limits: GateLimits) -> None:
    sizes = [int_value(extent) for extent in array.shape]
    known = [size for size in sizes if size is not None]
    if len(known) != len(sizes):
        raise UnsupportedError(f"array '{array.sym.name}' has no constant size", array.loc, "use constant sizes")
    if math.prod(known) * scalar(array.dtype).bytes * lanes(array.dtype) > limits.array_bytes:
        raise UnsupportedError(f"array '{array.sym.name}' is larger than {limits.array_bytes} bytes", array.loc)


def _depth(body: Body) -> int:
    return max((isinstance(s, For) + max((_depth(b) for b in bodies(s)), default=0) for s in body), default=0)


def _work(body: Body, limits: GateLimits) -> float:
    """Statements executed, loops with bounds that are not literals counted as ``unknown_trips``."""
    total = 0.0
    for statement in body:
        inner = sum(_work(b, limits) for b in bodies(statement))
        if isinstance(statement, For):
            lo, hi, step = (int_value(e) for e in (statement.lo, statement.hi, statement.step))
            known = lo is not None and hi is not None and step
            inner *= max(0, -(-(hi - lo) // step)) if known else limits.unknown_trips  # type: ignore[operator]
        total += 1 + inner
    return total
