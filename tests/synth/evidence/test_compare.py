import numpy as np

from synth.evidence.cases import BufferArg, TestCase
from synth.evidence.compare import FILL, POISON, compare
from synth.evidence.tolerance import Tolerance
from synth.ir.dtypes import DType
from synth.ir.grammar import Role

TOLERANCES = {"C": Tolerance(1e-5)}


def case(count: int, dtype: DType = DType.F32) -> TestCase:
    data = np.arange(count, dtype=np.float32)
    return TestCase("f", (BufferArg("A", DType.F32, count, Role.IN, data), BufferArg("C", dtype, count, Role.OUT)), "random", 0)


def outputs(*values: float, dtype=np.float32, a=None):
    c = np.array(values, dtype)
    return {"A": np.arange(c.size, dtype=np.float32) if a is None else a, "C": c}


def filled(byte: int) -> np.float32:
    return np.frombuffer(bytes([byte]) * 4, np.float32)[0]


def test_within_tolerance_of_element_and_scale() -> None:
    good = compare(outputs(1, 100, -100), outputs(1.0005, 100.0005, -100), case(3), TOLERANCES)
    assert good.ok and 0 < good.errors["C"] < 1e-5
    bad = compare(outputs(1, 100, -100), outputs(1.01, 100, -100), case(3), TOLERANCES)
    assert not bad.ok and bad.first == 0 and bad.buffer == "C"
    assert bad.reason == "output 'C'[0] is 1.0099999904632568 instead of 1.0; 1 of 3 elements differ"


def test_integers_are_exact() -> None:
    c = case(2, DType.I32)
    assert compare(outputs(1, 1 << 30, dtype=np.int32), outputs(1, 1 << 30, dtype=np.int32), c, {}).ok
    assert compare(outputs(1, 1 << 30, dtype=np.int32), outputs(1, (1 << 30) + 1, dtype=np.int32), c, {}).first == 1


def test_a_stray_write_to_an_input_is_a_mismatch() -> None:
    changed = np.array([0, 1.0000001], np.float32)
    result = compare(outputs(1, 2), outputs(1, 2, a=changed), case(2), TOLERANCES)
    assert not result.ok and result.reason.startswith("input 'A'[1]")


def test_nan_and_infinity() -> None:
    nan, inf = np.nan, np.inf
    assert compare(outputs(nan, inf, -inf), outputs(-nan, inf, -inf), case(3), TOLERANCES).ok
    assert not compare(outputs(nan, 1), outputs(1, 1), case(2), TOLERANCES).ok
    assert not compare(outputs(1, 1), outputs(nan, 1), case(2), TOLERANCES).ok
    assert not compare(outputs(inf, 1), outputs(-inf, 1), case(2), TOLERANCES).ok
    assert not compare(outputs(inf, 1), outputs(3e38, 1), case(2), TOLERANCES).ok


def test_what_the_reference_never_wrote_must_stay_unwritten() -> None:
    poison = filled(POISON)
    assert compare(outputs(1, poison), outputs(1, poison), case(2), TOLERANCES).ok
    touched = compare(outputs(1, poison), outputs(1, 7), case(2), TOLERANCES)
    assert not touched.ok and "which the reference leaves alone" in touched.reason


def test_poison_does_not_widen_the_tolerance() -> None:
    poison = filled(POISON)
    assert not compare(outputs(1, 2, poison), outputs(1, 3, poison), case(3), TOLERANCES).ok
    assert not compare(outputs(1, 2, 3), outputs(1, 2, poison), case(3), TOLERANCES).ok


def test_uninitialised_device_memory_is_free() -> None:
    assert compare(outputs(1, filled(FILL)), outputs(1, 5), case(2), TOLERANCES).ok


def test_missing_elements() -> None:
    assert compare(outputs(1, 2), outputs(1), case(2), TOLERANCES).reason == "buffer 'A' has 1 elements instead of 2"


def test_bfloat16_is_compared_as_numbers() -> None:
    one, more = 0x3F80, 0x3F81  # 1 and the next one, 1/128 more
    a, b = outputs(one, one, dtype=np.uint16), outputs(more, one, dtype=np.uint16)
    assert compare(a, b, case(2, DType.BF16), {"C": Tolerance(1.6e-2)}).ok
    assert not compare(a, b, case(2, DType.BF16), {"C": Tolerance(1e-3)}).ok
