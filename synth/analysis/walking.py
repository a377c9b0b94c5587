"""What holds at the places of a module: the environment at entry, and how it changes from statement to statement.

``module_env`` knows no more of mutable scalars than their intervals. ``entry_env`` starts a walk that also tracks their present values: it
must go through ``step_into`` and ``following`` for every statement on its way.
"""

from __future__ import annotations

from synth.analysis.env import Env
from synth.analysis.induction import in_iteration
from synth.analysis.mutable import scalar_ranges, tracked_scalars
from synth.ir.grammar import Alloc, Break, Continue, For, If, Let, Module, Return, Stmt, Store, Sym, While
from synth.ir.traversal import bodies, walk, written_buffers

_KEPT = 4
_entries: list[tuple[Module, Env]] = []  # the last few modules, by identity: a search asks about one module many times


def module_env(module: Module) -> Env:
    """What holds at entry."""
    for kept, env in _entries:
        if kept is module:
            return env
    env = Env(written=frozenset(written_buffers(module.body)))
    for cond in module.assumes:
        env = env.with_fact(cond)
    scalars = tracked_scalars(module.body)
    if scalars:
        env = env.extended(scalars=scalar_ranges(module.body, env.extended(tracked=scalars)))
    _entries.insert(0, (module, env))
    del _entries[_KEPT:]
    return env


def entry_env(module: Module) -> Env:
    """What holds at entry, for walks that follow every store."""
    return module_env(module).extended(tracked=tracked_scalars(module.body))


def step_into(env: Env, stmt: Stmt, branch: int) -> Env:
    """The environment inside the ``branch``-th body of a statement."""
    match stmt:
        case For():
            return env.with_loop(stmt)
        case If():
            return env.with_fact(stmt.cond, branch == 0)
        case While():
            # The condition is evaluated anew in every iteration, after what earlier ones have changed.
            return in_iteration(env, stmt).with_fact(stmt.cond)
        case _:
            return env


def following(env: Env, stmt: Stmt) -> Env:
    """The environment after a statement: its definition, or the negation of a condition under which control leaves."""
    match stmt:
        case Let():
            return env.with_let(stmt)
        case If(then=(*_, Return() | Break() | Continue()), orelse=()):
            return env.with_fact(stmt.cond, False)
        case Store(index=(), mask=None) if env.tracked:
            return env.with_value(stmt.buf, stmt.value)
        case _:
            return _forgetting(env, stmt)


def _forgetting(env: Env, stmt: Stmt) -> Env:
    return env.forget(written_buffers((stmt,))) if env.current or env.now else env


def env_at(module: Module, target: Stmt, *, tracking: bool = False) -> Env:
    """What is known just before a statement, found by identity. With ``tracking``, mutable scalars included: for a walk from there on that
    follows every store. Raises KeyError when the statement is not in the module."""
    found = _env_at(module.body, target, entry_env(module) if tracking else module_env(module))
    if found is None:
        raise KeyError("the statement is not in the module")
    return found


def _env_at(body: tuple[Stmt, ...], target: Stmt, env: Env) -> Env | None:
    for stmt in body:
        if stmt is target:
            return env
        for branch, inner in enumerate(bodies(stmt)):
            if not any(s is target for s in walk(inner)):
                continue
            return _env_at(inner, target, step_into(env, stmt, branch))
        env = following(env, stmt)
    return None


def private_buffers(body: tuple[Stmt, ...]) -> set[Sym]:
    """Buffers allocated in a body: fresh in every iteration."""
    return {s.sym for s in walk(body) if isinstance(s, Alloc)}
