from dataclasses import dataclass
from typing import ClassVar

from search.action import Action, Sketch
from search.tuning import Tuner


@dataclass(frozen=True, slots=True)
class Tile:
    name: ClassVar[str] = "tile"
    a: int
    b: int


def sketch(*sizes: int) -> Sketch:
    names = ("a", "b")[: len(sizes)]
    holes = tuple((name, tuple(range(size))) for name, size in zip(names, sizes, strict=True))
    return (Action(Tile, (), holes),)  # type: ignore[arg-type]


def drain(tuner: Tuner, wanted: Sketch) -> list[tuple[int, ...]]:
    points = []
    while (point := tuner.ask(wanted)) is not None:
        tuner.tell(wanted, point, 1.0)
        points.append(point)
    return points  # type: ignore[return-value]


def test_small_spaces_are_enumerated_once_favourites_first() -> None:
    assert drain(Tuner(0), sketch(2, 3)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_a_sketch_without_holes_has_one_point() -> None:
    assert drain(Tuner(0), (Action(Tile, (("a", 1), ("b", 2))),)) == [()]  # type: ignore[arg-type]


def test_large_spaces_are_sampled_without_repeats_and_reproducibly() -> None:
    points = [drain_some(Tuner(seed), 30) for seed in (1, 1, 2)]
    assert points[0] == points[1] != points[2]
    assert len(set(points[0])) == 30


def test_sampling_moves_towards_the_reward() -> None:
    points = drain_some(Tuner(3), 60)
    early, late = points[:10], points[-20:]
    assert distance(late) < distance(early)


def distance(points: list[tuple[int, ...]]) -> float:
    return sum(abs(p[0] - 20) for p in points) / len(points)


def drain_some(tuner: Tuner, count: int) -> list[tuple[int, ...]]:
    wanted, points = sketch(100, 100), []
    for _ in range(count):
        point = tuner.ask(wanted)
        assert point is not None
        tuner.tell(wanted, point, -abs(float(point[0]) - 20))  # type: ignore[arg-type]
        points.append(point)
    return points  # type: ignore[return-value]
