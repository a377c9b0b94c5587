"""Actions: passes with open parameters, and sketches: sequences of them.

``loop_split{site=i, factor=?(8|16|32)}`` is one action of the tree; which factor is best is left to the Optuna study of the sketch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.passes.base import Pass

Value = str | int | bool | float | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A pass whose ``fixed`` fields are decided and whose ``holes`` have a set of candidate values each."""

    pass_type: type[Pass]
    fixed: tuple[tuple[str, Value], ...]
    holes: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    def __str__(self) -> str:
        hidden = {f.name for f in dataclasses.fields(self.pass_type) if not f.repr}  # type: ignore[arg-type]
        shown = [f"{name}={value}" for name, value in self.fixed if name not in hidden]
        shown += [f"{name}=?({'|'.join(map(str, values))})" for name, values in self.holes]
        return f"{self.pass_type.name}{{{', '.join(shown)}}}"

    def instantiate(self, values: Mapping[str, Value]) -> Pass:
        """The application with every hole filled from ``values`` (by field name)."""
        return self.pass_type(**dict(self.fixed), **{name: values[name] for name, _ in self.holes})


Sketch = tuple[Action, ...]
Point = tuple[Value, ...]


def hole_spaces(sketch: Sketch) -> tuple[tuple[Value, ...], ...]:
    """The candidate values of every hole of a sketch, in order."""
    return tuple(values for action in sketch for _, values in action.holes)


def first_point(sketch: Sketch) -> Point:
    """The point that takes the first candidate everywhere: passes propose their favourite first."""
    return tuple(values[0] for values in hole_spaces(sketch))


def fill(sketch: Sketch, point: Point) -> tuple[Pass, ...]:
    """The trace of a sketch at a point. Raises ValueError when the point has the wrong length."""
    if len(point) != len(hole_spaces(sketch)):
        raise ValueError(f"a point of {len(point)} values for {len(hole_spaces(sketch))} holes")
    rest = iter(point)
    return tuple(action.instantiate({name: next(rest) for name, _ in action.holes}) for action in sketch)


def group(applications: Sequence[Pass]) -> tuple[Action, ...]:
    """Merges applications that differ only in numbers into actions with holes, in order of first appearance.

    Only full products become one action: ``(8, True), (16, False)`` stay two actions, so that nothing unproposed is reachable.
    """
    groups: dict[tuple[Any, ...], list[Pass]] = {}
    for application in applications:
        groups.setdefault((type(application), _names(application), _fixed(application)), []).append(application)
    actions: list[Action] = []
    for (pass_type, names, fixed), members in groups.items():
        open_names = [name for name in names if name not in dict(fixed)]
        columns = {name: tuple(dict.fromkeys(getattr(member, name) for member in members)) for name in open_names}
        varying = [name for name in open_names if len(columns[name]) > 1]
        size = 1
        for name in varying:
            size *= len(columns[name])
        if size == len(set(members)):
            constant = tuple((name, columns[name][0]) for name in open_names if name not in varying)
            actions.append(Action(pass_type, fixed + constant, tuple((name, columns[name]) for name in varying)))
        else:
            actions.extend(Action(pass_type, tuple((name, getattr(member, name)) for name in names)) for member in members)
    return tuple(actions)


def _names(application: Pass) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(application))  # type: ignore[arg-type]


def _fixed(application: Pass) -> tuple[tuple[str, Value], ...]:
    """The fields that identify an action: all but plain integers."""
    pairs = ((name, getattr(application, name)) for name in _names(application))
    return tuple((name, value) for name, value in pairs if type(value) is not int)
