"""MCTS and random search over the toy space of digit strings: the value of a program is a function of its number."""

from __future__ import annotations

from collections import Counter

import pytest

from search.mcts import Mcts
from search.random_search import RandomSearch
from search.strategy import Strategy
from search.tree import Leaf, Tree
from tests.search.toy import SPEC, FixedProposer, program


def tree(depth: int = 3, priors: tuple[float, ...] = (0.5, 0.3, 0.2)) -> Tree:
    return Tree(program(0), SPEC, FixedProposer(priors), depth=depth)


def digits(leaf: Leaf) -> str:
    return "".join(str(dict(action.fixed)["digit"]) for action in leaf.sketch)


def explore(strategy: Strategy, reward: dict[str, float], visits: int) -> list[str]:
    """Asks, values and tells; every sketch has one point, so a second visit closes it."""
    order: list[str] = []
    asked: set[str] = set()
    for _ in range(visits * 4):
        leaf = strategy.ask()
        if leaf is None or len(order) == visits:
            break
        if digits(leaf) in asked:
            strategy.close(leaf)
            continue
        asked.add(digits(leaf))
        order.append(digits(leaf))
        strategy.tell(leaf, reward.get(digits(leaf), 1.0))
    return order


def test_the_default_lowering_comes_first_and_priors_order_the_rest() -> None:
    assert explore(Mcts(tree()), {}, 4)[:2] == ["", "1"]
    assert explore(Mcts(tree(priors=(0.1, 0.1, 0.8))), {}, 2) == ["", "3"]


def test_mcts_concentrates_where_the_reward_is() -> None:
    reward = {"2": 3.0, "22": 5.0, "23": 2.0, "221": 6.0}
    order = explore(Mcts(tree()), reward, 14)
    assert "221" in order
    first_digits = Counter(d[0] for d in order if d)
    assert first_digits["2"] > first_digits["1"] and first_digits["2"] > first_digits["3"]


@pytest.mark.parametrize("make", [Mcts, lambda t: RandomSearch(t, seed=1)])
def test_strategies_are_deterministic(make: object) -> None:
    runs = [explore(make(tree()), {"2": 2.0, "31": 4.0}, 12) for _ in range(2)]  # type: ignore[operator]
    assert runs[0] == runs[1]


def test_mcts_exhausts_a_finite_space_without_repeats() -> None:
    order = explore(Mcts(tree(depth=2)), {}, 100)
    assert len(order) == len(set(order)) == 1 + 3 + 9
    strategy = Mcts(tree(depth=1))
    explore(strategy, {}, 100)
    assert strategy.ask() is None


def test_unfinished_visits_spread_the_search() -> None:
    strategy = Mcts(tree())
    leaves = [strategy.ask() for _ in range(4)]
    assert len({digits(leaf) for leaf in leaves if leaf}) == 4
    for leaf in leaves:
        assert leaf is not None
        strategy.tell(leaf, 1.0)


def test_programs_reached_in_two_ways_are_one_node() -> None:
    space = tree()
    root = space.nodes[space.root_key]
    again = Tree(program(0), SPEC, FixedProposer())
    assert again.root_key == space.root_key
    assert space.child(root, 0).key == again.child(again.nodes[again.root_key], 0).key


def test_random_search_depends_on_its_seed() -> None:
    orders = [explore(RandomSearch(tree(), seed), {}, 10) for seed in (1, 2)]
    assert orders[0] != orders[1]
