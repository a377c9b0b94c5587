"""Traces: applications in order. They print as ``loop_split{site=i, factor=32} | parallelize{site=bx}`` and parse back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, get_type_hints

from synth.errors import IllegalPassError, UsageError
from synth.ir.grammar import Module
from synth.passes.base import Pass
from synth.passes.registry import get
from synth.spec import DeviceSpec

Trace = tuple[Pass, ...]
_STEP = re.compile(r"\s*([a-z_]+)\s*(?:\{([^{}]*)\})?\s*\Z")


def print_step(step: Pass) -> str:
    """One application."""
    fields = dataclasses.fields(step)  # type: ignore[arg-type]
    shown = ", ".join(f"{f.name}={_show(getattr(step, f.name))}" for f in fields if f.repr)
    return f"{step.name}{{{shown}}}" if shown else step.name


def print_trace(trace: Sequence[Pass]) -> str:
    """All applications in one line."""
    return " | ".join(map(print_step, trace))


def parse_trace(text: str) -> Trace:
    """Reads a printed trace. Raises UsageError naming the step that is wrong."""
    return tuple(_parse_step(part, number) for number, part in enumerate(text.split("|"), 1)) if text.strip() else ()


def replay(trace: Sequence[Pass], module: Module, spec: DeviceSpec) -> Module:
    """Checks and applies every step. Raises IllegalPassError with the number of the step that is refused."""
    for number, step in enumerate(trace, 1):
        verdict = step.check(module, spec)
        if not verdict:
            raise IllegalPassError(f"step {number}, {print_step(step)}, is refused: {getattr(verdict, 'reason', '')}")
        module = step.apply(module, spec)
    return module


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "(" + "; ".join(_show(v) for v in value) + ")"
    return str(value)


def _parse_step(text: str, number: int) -> Pass:
    found = _STEP.match(text)
    if found is None:
        raise UsageError(f"step {number} of the trace is not understood: '{text.strip()}'", hint="write name{field=value, ...}")
    pass_type = get(found.group(1))
    hints = get_type_hints(pass_type)
    values: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in (found.group(2) or "").split(","))):
        name, equals, value = item.partition("=")
        if not equals or name.strip() not in hints:
            known = ", ".join(f.name for f in dataclasses.fields(pass_type))  # type: ignore[arg-type]
            raise UsageError(f"step {number}: {pass_type.name} has no field '{name.strip()}'", hint=f"its fields are {known or 'none'}")
        values[name.strip()] = _read(value.strip(), hints[name.strip()], number)
    try:
        return pass_type(**values)
    except TypeError as error:
        raise UsageError(f"step {number}: {pass_type.name}: {error}", hint="give every field a value") from error


def _read(text: str, hint: Any, number: int) -> Any:
    if hint is bool:
        if text not in ("true", "false"):
            raise UsageError(f"step {number}: '{text}' is neither true nor false")
        return text == "true"
    if hint is int:
        try:
            return int(text)
        except ValueError as error:
            raise UsageError(f"step {number}: '{text}' is not an integer") from error
    if hint is str:
        return text
    return tuple(part.strip() for part in text.strip("()").split(";") if part.strip())
