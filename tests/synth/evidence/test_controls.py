import numpy as np

from synth.evidence.cases import BufferArg, TestCase
from synth.evidence.controls import CONTROLS, weaknesses
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role


def cases(count: int, dtype: DType = DType.F32, role: Role = Role.OUT) -> list[TestCase]:
    return [TestCase("f", (BufferArg("C", dtype, count, role),), "random", 0)]


def found(values: np.ndarray, dtype: DType = DType.F32, relative: float = 1e-5) -> tuple[str, ...]:
    return weaknesses(cases(values.size, dtype), [{"C": values}], {"C": Tolerance(relative)})


def test_distinct_values_are_strong_enough() -> None:
    assert found(np.random.default_rng(0).standard_normal(64).astype(np.float32)) == ()
    assert found(np.arange(1, 65, dtype=np.int32), DType.I32) == ()


def test_an_output_of_zeros_shows_nothing() -> None:
    weak = found(np.zeros(64, np.float32))
    assert "C: zeroed outputs would pass" in weak and "C: truncated outputs would pass" in weak and "C: negated outputs would pass" in weak
    assert not any("shifted" in words for words in weak)  # moving equal elements changes nothing: no control at all


def test_a_tolerance_as_large_as_the_output_shows_nothing() -> None:
    weak = found(np.random.default_rng(0).standard_normal(64).astype(np.float32), relative=10.0)
    assert len(weak) == len(CONTROLS)


def test_a_slight_error_in_one_element_must_be_noticed() -> None:
    values = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    assert found(values, relative=0.02) == ("C: last element wrong outputs would pass",)


def test_one_telling_case_is_enough() -> None:
    zeros, values = np.zeros(8, np.float32), np.arange(1, 9, dtype=np.float32)
    assert weaknesses(cases(8) * 2, [{"C": zeros}, {"C": values}], {"C": Tolerance(1e-5)}) == ()


def test_no_output_and_empty_output() -> None:
    assert weaknesses(cases(4, role=Role.IN), [{"C": np.ones(4, np.float32)}], {}) == ("the entry has no output",)
    assert found(np.zeros(0, np.float32)) == ("C: it is empty in every case",)


def test_scalar_output_and_booleans() -> None:
    assert found(np.array([3.0], np.float32)) == ()
    assert found(np.array([True, False, False, True, True, False, True, True]), DType.BOOL, 0.0) == ()


def test_every_control_changes_a_plain_buffer() -> None:
    values = np.arange(1, 13, dtype=np.float32)
    for damage in CONTROLS.values():
        assert not np.array_equal(damage(values, DType.F32), values)
        assert np.array_equal(values, np.arange(1, 13, dtype=np.float32))
