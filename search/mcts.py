"""Monte Carlo tree search over sketches: PUCT with priors, a transposition table, in-flight visits, mixed max/mean backup.

Selection follows Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), methods: an edge scores
``Q + c * P * sqrt(sum N) / (1 + N)``; unfinished visits count in N as if they had returned nothing ("virtual visits"). Q mixes maximum and
mean of the rewards because one good schedule is worth more than many fair ones; an unvisited edge is taken to be as good as its
siblings on average. Progressive widening (Coulom, 2007) admits the
``ceil(k * N^alpha)`` most promising edges at a node with N visits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from search.tree import Edge, Leaf, Node, Tree


@dataclass(frozen=True, slots=True)
class MctsParameters:
    """The search's own parameters, open to outer tuning."""

    exploration: float = 1.2
    prior_temperature: float = 1.0
    max_weight: float = 0.7
    widening_factor: float = 2.0
    widening_exponent: float = 0.6


@dataclass(slots=True)
class Mcts:
    """See the module docstring. The root itself is the first leaf: the default lowering."""

    tree: Tree
    parameters: MctsParameters = field(default_factory=MctsParameters)
    _closed: set[tuple[str, int]] = field(default_factory=set)
    _exhausted: set[str] = field(default_factory=set)
    _root_asked: bool = False

    def ask(self) -> Leaf | None:
        if not self._root_asked:
            self._root_asked = True
            return Leaf(())
        while self.tree.root_key not in self._exhausted:
            leaf = self._descend()
            if leaf is not None:
                return leaf
        return None

    def _descend(self) -> Leaf | None:
        """One walk from the root; None when it ended in a node with nothing left, which is marked exhausted."""
        node, path, seen = self.tree.nodes[self.tree.root_key], [], {self.tree.root_key}
        while True:
            index = self._select(node, seen)
            if index is None:
                self._exhausted.add(node.key)
                return None
            edge = self.tree.edges(node)[index]
            path.append((node.key, index))
            fresh = edge.visits + edge.in_flight == 0
            child = self.tree.child(node, index)
            # An edge is valued on its own before the search goes below it, and again while its study has points.
            if fresh or ((node.key, index) not in self._closed and self._prefers_tuning(edge)) or self._is_dead(child, seen):
                return self._reserve(tuple(path))
            seen.add(child.key)
            node = child

    def tell(self, leaf: Leaf, reward: float) -> None:
        for key, index in leaf.path:
            edge = self._edge(key, index)
            edge.in_flight -= 1
            edge.visits += 1
            edge.total += reward
            edge.best = max(edge.best, reward)
            self.tree.nodes[key].visits += 1

    def close(self, leaf: Leaf) -> None:
        for key, index in leaf.path:
            self._edge(key, index).in_flight -= 1
        if leaf.path:
            self._closed.add(leaf.path[-1])

    def _edge(self, key: str, index: int) -> Edge:
        return self.tree.edges(self.tree.nodes[key])[index]

    def _reserve(self, path: tuple[tuple[str, int], ...]) -> Leaf:
        for key, index in path:
            self._edge(key, index).in_flight += 1
        return Leaf(tuple(self._edge(key, index).action for key, index in path), path)

    def _prefers_tuning(self, edge: Edge) -> bool:
        """Alternates between trying another point of this sketch and going deeper, more points for an edge with more holes."""
        holes = math.prod(len(values) for _, values in edge.action.holes)
        return holes > 1 and (edge.visits + edge.in_flight) % 2 == 1

    def _is_dead(self, child: Node, seen: set[str]) -> bool:
        """Nothing below: already on the path (a cycle), exhausted, or without proposals."""
        return child.key in seen or child.key in self._exhausted or not self.tree.edges(child)

    def _select(self, node: Node, seen: set[str]) -> int | None:
        edges = self.tree.edges(node)
        if not edges:
            return None
        p = self.parameters
        started = sum(edge.visits + edge.in_flight for edge in edges)
        allowed = max(1, math.ceil(p.widening_factor * (started + 1) ** p.widening_exponent))
        weights = [edge.prior ** (1.0 / p.prior_temperature) for edge in edges]
        total = sum(weights) or 1.0
        finished = sum(edge.visits for edge in edges)
        unvisited = sum(edge.total for edge in edges) / finished if finished else 1.0
        best: tuple[float, int] | None = None
        open_edges = 0
        for index, edge in enumerate(edges):
            if not self._is_open(node, index, edge, seen):
                continue
            open_edges += 1
            if open_edges > allowed:
                break
            count = edge.visits + edge.in_flight
            mixed = p.max_weight * edge.best + (1.0 - p.max_weight) * edge.mean
            value = mixed * edge.visits / count if count else unvisited
            score = value + p.exploration * (weights[index] / total) * math.sqrt(started + 1) / (1 + count)
            if best is None or score > best[0]:
                best = (score, index)
        return None if best is None else best[1]

    def _is_open(self, node: Node, index: int, edge: Edge, seen: set[str]) -> bool:
        """Something is left to do at or below this edge."""
        if edge.visits + edge.in_flight == 0 or (node.key, index) not in self._closed:
            return True
        child = self.tree.nodes[edge.child] if edge.child else None
        return child is not None and not self._is_dead(child, seen)
