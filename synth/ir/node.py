"""What the nodes of the IR share: they are immutable, so that a structural hash once computed stays true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Node = TypeVar("Node", bound=type[Any])


class Hashed:
    """The place of a remembered hash. It is no field of the dataclass: not compared, printed, copied or pickled (in another process
    strings hash to something else)."""

    __slots__ = ("_hash",)


def remembers_hash(cls: Node) -> Node:
    """A frozen dataclass over ``Hashed`` computes its structural hash once a node. Trees of expressions are keys of many tables, and
    each hash would go through the whole tree."""
    compute: Callable[[Any], int] = cls.__hash__  # type: ignore[assignment]  # of the class: takes the node

    def remembered(self: Any) -> int:
        try:
            known: int = self._hash
        except AttributeError:
            known = compute(self)
            object.__setattr__(self, "_hash", known)
        return known

    cls.__hash__ = remembered  # type: ignore[assignment]
    return cls
