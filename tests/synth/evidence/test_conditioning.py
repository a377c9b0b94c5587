import numpy as np

from synth.evidence.cases import BufferArg, ScalarArg, TestCase
from synth.evidence.compare import compare
from synth.evidence.conditioning import neighbours, slack
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role

TOLERANCES = {"x": Tolerance(1e-5), "y": Tolerance(1e-5)}


def case(x: np.ndarray) -> TestCase:
    args = (BufferArg("x", DType.F32, x.size, Role.IN, x), BufferArg("ids", DType.I32, 2, Role.IN, np.array([3, 4], np.int32)),
            ScalarArg("n", DType.I32, 4), BufferArg("y", DType.F32, 1, Role.OUT))  # fmt: skip
    return TestCase("f", args, "random", 1)


def difference(found: TestCase) -> dict[str, np.ndarray]:
    """A function that cancels: the output is all rounding of its inputs."""
    x, ids = (arg.data for arg in found.args if isinstance(arg, BufferArg) and arg.data is not None)
    return {"x": x, "ids": ids, "y": (x[:1] - x[1:2]).astype(np.float32)}


def test_neighbours_keep_signs_zeros_and_integers() -> None:
    x = np.array([1.5, -2.0, 0.0, -0.0], np.float32)
    for other in neighbours(case(x)):
        moved, ids, n = other.args[0].data, other.args[1].data, other.args[2]
        assert (np.sign(moved) == np.sign(x)).all() and np.abs(moved - x).max() < 2e-6 and (moved[:2] != x[:2]).all()
        assert ids.tolist() == [3, 4] and n == ScalarArg("n", DType.I32, 4)
    assert [o.args[0].data.tolist() for o in neighbours(case(x))] == [o.args[0].data.tolist() for o in neighbours(case(x))]


def test_what_the_source_itself_does_not_know_is_allowed_and_no_more() -> None:
    here = case(np.array([1e6, 1e6 - 1], np.float32))
    reference = difference(here)
    room = slack(reference, [difference(other) for other in neighbours(here)], here)
    assert 0.1 < room["y"][0] < 30
    near, far = {**reference, "y": reference["y"] + np.float32(0.1)}, {**reference, "y": reference["y"] + np.float32(100)}
    assert not compare(reference, near, here, TOLERANCES).ok
    assert compare(reference, near, here, TOLERANCES, room).ok
    assert not compare(reference, far, here, TOLERANCES, room).ok


def test_a_well_conditioned_output_gets_almost_nothing() -> None:
    here = case(np.array([3.0, 1.0], np.float32))
    reference = difference(here)
    room = slack(reference, [difference(other) for other in neighbours(here)], here)
    assert room["y"][0] < 2e-5
    assert not compare(reference, {**reference, "y": reference["y"] * np.float32(1.001)}, here, TOLERANCES, room).ok


def test_neighbours_that_are_no_numbers_allow_nothing() -> None:
    here = case(np.array([3.0, 1.0], np.float32))
    reference = difference(here)
    assert slack(reference, [{**reference, "y": np.array([np.inf], np.float32)}], here)["y"][0] == 0
