from dataclasses import dataclass
from typing import ClassVar

import pytest

from search.action import Action, fill, first_point, group, hole_spaces


@dataclass(frozen=True, slots=True)
class Split:
    name: ClassVar[str] = "split"
    site: str
    factor: int
    guard: bool = False


def test_applications_that_differ_in_numbers_become_one_action() -> None:
    actions = group([Split("i", 8), Split("i", 16), Split("j", 8)])  # type: ignore[list-item]
    assert [str(a) for a in actions] == ["split{site=i, guard=False, factor=?(8|16)}", "split{site=j, guard=False, factor=8}"]


def test_a_sketch_is_filled_hole_by_hole() -> None:
    (action,) = group([Split("i", 8), Split("i", 16)])  # type: ignore[list-item]
    sketch = (action, Action(Split, (("site", "j"), ("factor", 4))), action)  # type: ignore[arg-type]
    assert hole_spaces(sketch) == ((8, 16), (8, 16))
    assert first_point(sketch) == (8, 8)
    assert fill(sketch, (16, 8)) == (Split("i", 16), Split("j", 4), Split("i", 8))


def test_a_point_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 values for 0 holes"):
        fill((Action(Split, (("site", "j"), ("factor", 4))),), (1, 2))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Tile:
    name: ClassVar[str] = "tile"
    a: int
    b: int


def test_only_full_products_are_merged() -> None:
    full = group([Tile(1, 1), Tile(1, 2), Tile(2, 1), Tile(2, 2)])  # type: ignore[list-item]
    assert [str(a) for a in full] == ["tile{a=?(1|2), b=?(1|2)}"]
    partial = group([Tile(1, 1), Tile(2, 2)])  # type: ignore[list-item]
    assert [str(a) for a in partial] == ["tile{a=1, b=1}", "tile{a=2, b=2}"]
