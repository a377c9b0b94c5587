"""The graph that strategies walk: nodes are programs (by structural hash), edges are actions.

Two orders of independent passes lead to one node; counts live on the edges, so that statistics of one parent never leak to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from search.action import Action, Sketch, fill, first_point
from search.proposer import Proposer
from synth.ir.grammar import Module
from synth.ir.hashing import structural_hash
from synth.spec import DeviceSpec


@dataclass(slots=True)
class Edge:
    """An action at a node. ``total`` and ``best`` are over finished visits, ``in_flight`` counts the unfinished."""

    action: Action
    prior: float
    child: str | None = None
    visits: int = 0
    in_flight: int = 0
    total: float = 0.0
    best: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.visits if self.visits else 0.0


@dataclass(slots=True)
class Node:
    """One program, reached first by ``sketch`` with every hole at its first candidate. ``edges`` is None until it is expanded."""

    key: str
    module: Module
    sketch: Sketch
    edges: list[Edge] | None = None
    visits: int = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """A sketch to be valued, and the path to it: ``(node key, edge index)`` from the root on."""

    sketch: Sketch
    path: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class Tree:
    """Nodes made on demand from a root program. ``width`` bounds the proposals of a node, ``depth`` the length of a sketch."""

    root: Module
    spec: DeviceSpec
    proposer: Proposer
    width: int = 24
    depth: int = 8
    nodes: dict[str, Node] = field(default_factory=dict)
    root_key: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.root_key = structural_hash(self.root)
        self.nodes[self.root_key] = Node(self.root_key, self.root, ())

    def edges(self, node: Node) -> list[Edge]:
        """The edges of a node by falling prior, asking the proposer the first time. Empty at the depth limit."""
        if node.edges is None:
            proposals = self.proposer.propose(node.module, self.spec, self.width) if len(node.sketch) < self.depth else ()
            node.edges = [Edge(p.action, p.prior) for p in sorted(proposals, key=lambda p: -p.prior)]
        return node.edges

    def child(self, node: Node, index: int) -> Node:
        """The node behind an edge, applying the action the first time."""
        edge = self.edges(node)[index]
        if edge.child is None:
            (step,) = fill((edge.action,), first_point((edge.action,)))
            module = step.apply(node.module, self.spec)
            key = structural_hash(module)
            self.nodes.setdefault(key, Node(key, module, (*node.sketch, edge.action)))
            edge.child = key
        return self.nodes[edge.child]
