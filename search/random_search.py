"""The baseline: uniformly random walks from the root, of random length."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from search.action import Sketch
from search.tree import Leaf, Tree


@dataclass(slots=True)
class RandomSearch:
    """Draws sketches from an explicit seed; repeats are possible, as with any random search, and are cheap since candidates are
    memoised."""

    tree: Tree
    seed: int
    patience: int = 64
    _random: random.Random = field(init=False)
    _closed: set[Sketch] = field(default_factory=set)
    _root_asked: bool = False

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def ask(self) -> Leaf | None:
        if not self._root_asked:
            self._root_asked = True
            return Leaf(())
        for _ in range(self.patience):
            leaf = self._walk()
            if leaf.path and leaf.sketch not in self._closed:
                return leaf
        return None

    def tell(self, leaf: Leaf, reward: float) -> None:
        del reward
        for key, index in leaf.path:
            self.tree.edges(self.tree.nodes[key])[index].visits += 1

    def close(self, leaf: Leaf) -> None:
        self._closed.add(leaf.sketch)

    def _walk(self) -> Leaf:
        node, path, sketch = self.tree.nodes[self.tree.root_key], [], []
        for _ in range(self._random.randint(1, self.tree.depth)):
            edges = self.tree.edges(node)
            if not edges:
                break
            index = self._random.randrange(len(edges))
            path.append((node.key, index))
            sketch.append(edges[index].action)
            node = self.tree.child(node, index)
        return Leaf(tuple(sketch), tuple(path))
