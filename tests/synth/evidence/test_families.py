import numpy as np
import pytest

from synth.evidence.families import FAMILIES, contents
from synth.evidence.indexing import IndexRule
from synth.ir.dtypes import DType


def make(family: str, dtype: DType = DType.F32, count: int = 400, rule: IndexRule | None = None) -> np.ndarray:
    return contents(family, dtype, count, np.random.default_rng(5), rule)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [DType.F32, DType.F16, DType.F64, DType.I8, DType.U8, DType.I32, DType.BOOL])
@pytest.mark.parametrize("count", [0, 1, 7, 400, 70000])
def test_every_family_fills_every_dtype(family: str, dtype: DType, count: int) -> None:
    values = make(family, dtype, count)
    assert values.shape == (count,)
    if dtype.is_float:
        assert np.isfinite(values).all()


def test_properties() -> None:
    assert len(np.unique(make("random"))) == 400
    assert (make("zeros") == 0).all()
    assert (make("negative") < 0).all() and (make("positive") > 0).all()
    assert (np.diff(make("ramp")) > 0).all()
    assert np.abs(make("small")).max() < 1e-3
    assert make("large").max() > 90  # the exponential of that overflows
    assert (make("negative", DType.I32) < 0).all() and (make("positive", DType.U8) > 0).all()
    assert {-128, 127} <= set(make("extremes", DType.I8))
    assert np.signbit(make("signs")[make("signs") == 0]).any()


@pytest.mark.parametrize("columns", [2, 45, 128])
def test_rows_of_any_length_have_their_maximum_far_above_the_rest_at_an_end(columns: int) -> None:
    for family, end in (("rising", -1), ("falling", 0)):
        rows = make(family, count=columns * 3).reshape(3, columns)
        assert (rows[:, end] > np.delete(rows, end % columns, 1).max(axis=1) + 90).all()


def test_mixed_has_the_others_in_pieces() -> None:
    values = make("mixed")
    assert (values[:45] < 0).all() and np.abs(values[90:135]).max() < 1e-3 and (values[180:224] == 0).all()


def test_peaks_lie_far_apart_and_elsewhere_for_another_seed() -> None:
    places = np.flatnonzero(np.abs(make("peaks")) > 90)
    assert len(places) > 5 and (np.diff(places) > 10).all()
    other = contents("peaks", DType.F32, 400, np.random.default_rng(6))
    assert places[0] != np.flatnonzero(np.abs(other) > 90)[0]


def test_seeds() -> None:
    assert np.array_equal(make("random"), make("random"))
    assert not np.array_equal(make("random"), contents("random", DType.F32, 400, np.random.default_rng(6)))


def test_indexes_are_in_range() -> None:
    for family in FAMILIES:
        values = make(family, DType.I32, rule=IndexRule(10))
        assert values.min() >= 0 and values.max() < 10
    assert set(make("ramp", DType.I32, rule=IndexRule(10))) == set(range(10))


def test_ascending_bounds() -> None:
    values = make("random", DType.I32, 9, IndexRule(101, ascending=True))
    assert values[0] == 0 and values[-1] == 100 and (np.diff(values) >= 0).all()


def test_bfloat16_comes_as_bits() -> None:
    values = make("ramp", DType.BF16, 4)
    assert values.dtype == np.uint16
    assert (values.astype(np.uint32) << 16).view(np.float32).tolist() == [-2, -1, 0, 1]
