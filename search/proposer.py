"""Who says which actions to try, and in what order. The symbolic proposer needs no model; others only re-rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from search.action import Action, group
from synth.ir.grammar import Module
from synth.passes.registry import get, names
from synth.spec import DeviceSpec


@dataclass(frozen=True, slots=True)
class Proposal:
    """An action with its prior probability; the priors of one answer sum to 1."""

    action: Action
    prior: float


class Proposer(Protocol):
    """``name`` is what results say proposed them."""

    @property
    def name(self) -> str: ...

    def propose(self, module: Module, spec: DeviceSpec, limit: int) -> tuple[Proposal, ...]:
        """At most ``limit`` proposals, most promising first; empty when nothing is worth doing."""
        ...


class Ranker(Protocol):
    """Scores printed actions for a printed program; what an LLM does."""

    @property
    def name(self) -> str: ...

    def rank(self, program: str, actions: Sequence[str]) -> tuple[float, ...]:
        """One non-negative weight per action, not all zero."""
        ...


# Passes that schedule: what the tree branches over. Normalising passes belong to the default lowering that completes every leaf.
SCHEDULING = ("loop_reorder", "loop_split", "loop_fuse", "loop_distribute", "parallelize", "vectorize", "unroll", "simd")


def legal_actions(module: Module, spec: DeviceSpec, passes: Sequence[str] = SCHEDULING) -> tuple[Action, ...]:
    """The actions that the passes propose here and of which at least one application is legal."""
    known = set(names())
    actions: list[Action] = []
    for name in passes:
        if name in known:
            pass_type = get(name)
            legal = tuple(application for application in pass_type.space(module, spec) if application.check(module, spec))
            actions.extend(group(legal))
    return tuple(actions)


class SymbolicProposer:
    """Every legal action with a harmonic prior in the order in which the passes propose them. Deterministic."""

    name = "symbolic"

    def propose(self, module: Module, spec: DeviceSpec, limit: int) -> tuple[Proposal, ...]:
        actions = legal_actions(module, spec)[:limit]
        return _normalised(actions, [1.0 / (rank + 1) for rank in range(len(actions))])


class RankedProposer:
    """The legal actions in the order a ranker gives them. The ranker cannot add an action: what it may choose from was proved legal."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    @property
    def name(self) -> str:
        return self._ranker.name

    def propose(self, module: Module, spec: DeviceSpec, limit: int) -> tuple[Proposal, ...]:
        from synth.ir.text import print_module

        actions = legal_actions(module, spec)
        if len(actions) < 2:
            return _normalised(actions, [1.0] * len(actions))
        weights = self._ranker.rank(print_module(module), [str(action) for action in actions])
        order = sorted(range(len(actions)), key=lambda i: (-weights[i], i))[:limit]
        return _normalised([actions[i] for i in order], [weights[i] for i in order])


def _normalised(actions: Sequence[Action], weights: Sequence[float]) -> tuple[Proposal, ...]:
    total = sum(weights)
    if not actions:
        return ()
    if total <= 0:
        return tuple(Proposal(action, 1.0 / len(actions)) for action in actions)
    return tuple(Proposal(action, weight / total) for action, weight in zip(actions, weights, strict=True))
