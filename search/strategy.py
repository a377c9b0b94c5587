"""What a search strategy is: it asks for leaves to be valued and is told their rewards. Strategies are deterministic given the seed."""

from __future__ import annotations

from typing import Protocol

from search.tree import Leaf


class Strategy(Protocol):
    """``ask`` may be called several times before the answers come (asynchronous leaves). Rewards are throughput relative to the default
    lowering, and 0 for anything without the required evidence."""

    def ask(self) -> Leaf | None:
        """The next leaf to value, or None when the space is exhausted."""
        ...

    def tell(self, leaf: Leaf, reward: float) -> None:
        """The reward of an asked leaf, exactly once each."""
        ...

    def close(self, leaf: Leaf) -> None:
        """Instead of ``tell``: the sketch of this leaf has no untried point left; it is not to be proposed again."""
        ...
