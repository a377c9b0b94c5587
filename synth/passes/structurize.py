"""``structurize``: kernels without ``return``, and loops around barriers without ``break`` and ``continue``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

from synth.ir import builder as b
from synth.ir.dtypes import DType
from synth.ir.grammar import Body, Break, Call, Continue, For, If, Launch, Load, Module, Return, Stmt, Sync, While
from synth.ir.traversal import bodies, walk, with_bodies
from synth.passes.base import Illegal, Legal, Verdict
from synth.passes.recovery_exits import declare_flag, has_exit, remove_exits
from synth.passes.recovery_launch import launches, put_together, replace_launch, take_apart
from synth.spec import DeviceSpec


def _meets(stmt: Stmt) -> bool:
    """Whether threads meet somewhere in ``stmt``."""
    return any(isinstance(s, Sync) or (isinstance(s, Call) and s.op.startswith("warp.")) for s in walk((stmt,)))


def _own_exits(loop: For | While) -> bool:
    return any(has_exit(s, Break) or has_exit(s, Continue) for s in loop.body)


def needs_structure(body: Body) -> bool:
    """Whether ``loop_recovery`` would refuse the body for a ``return``, or a ``break``/``continue`` of a loop around a meeting point."""
    return any(isinstance(s, Return) or (isinstance(s, For | While) and _meets(s) and _own_exits(s)) for s in walk(body))


def _loop(loop: For | While) -> Body:
    """A loop without exits of its own: ``continue`` nests the rest, ``break`` sets a flag that guards the remaining iterations."""
    body, skip = remove_exits(loop.body, Continue, "skip")
    if skip is not None:
        body = (*declare_flag(skip), *body)
    if not any(has_exit(s, Break) for s in body):
        return (dataclasses.replace(loop, body=body),)
    body, done = remove_exits(body, Break, "done", keep_flag=True)
    if done is None:
        return (dataclasses.replace(loop, body=body),)
    going = b.lnot(Load(done, (), DType.BOOL))
    if isinstance(loop, While):
        return (*declare_flag(done), dataclasses.replace(loop, cond=b.land(going, loop.cond), body=body))
    return (*declare_flag(done), dataclasses.replace(loop, body=(If(going, body),)))


def _loops(stmt: Stmt) -> Body:
    inner = with_bodies(stmt, tuple(tuple(t for s in body for t in _loops(s)) for body in bodies(stmt)))
    return _loop(inner) if isinstance(inner, For | While) and _meets(inner) and _own_exits(inner) else (inner,)


def structured(kernel: Body) -> Body:
    """A kernel body without ``return``, and without ``break``/``continue`` of loops around meeting points."""
    body, gone = remove_exits(kernel, Return, "returned")
    if gone is not None:
        body = (*declare_flag(gone), *body)
    return tuple(t for s in body for t in _loops(s))


@dataclass(frozen=True, slots=True)
class Structurize:
    """Nests what follows an exit; a flag only where nesting cannot express it.

    Before::

        if (i >= n) return;                    for (...) { if (c) break; a[i] = ...; __syncthreads(); }
        x[i] = ...;

    After::

        if (i < n) { x[i] = ...; }             done = false;
                                               for (...) { if (!done) { if (c) done = true; else { a[i] = ...; __syncthreads(); } } }

    ``kernel``: the launch's site.
    """

    name: ClassVar[str] = "structurize"
    kernel: str = ""

    @classmethod
    def space(cls, module: Module, spec: DeviceSpec) -> tuple[Self, ...]:
        return tuple(cls(site) for site, launch in launches(module).items() if needs_structure(launch.body))

    # For each thread, the sequence of executed statements with effects is the same before and after:
    #   return:    a statement that follows an exit runs iff the exit was not taken: it is nested in the branch that does not take the exit,
    #              or tests the flag that exactly the exits set; a loop around the exit is left by break and the flag is tested after it.
    #   continue:  the same within one iteration.   break: the same, and later iterations are guarded by the flag (for) or end the loop
    #   (while).
    # Threads that return early meet nobody afterwards, as before: a Sync waits for live threads only.
    def check(self, module: Module, spec: DeviceSpec) -> Verdict:
        launch = launches(module).get(self.kernel)
        if launch is None:
            return Illegal("no such launch", self.kernel)
        if not needs_structure(launch.body):
            return Illegal("nothing to structure: no return, and no break or continue around a barrier", self.kernel)
        return Legal()

    def apply(self, module: Module, spec: DeviceSpec) -> Module:
        launch = launches(module)[self.kernel]
        assert isinstance(launch, Launch)
        parts = take_apart(launch)
        return replace_launch(module, launch, (put_together(launch, dataclasses.replace(parts, kernel=structured(parts.kernel))),))
