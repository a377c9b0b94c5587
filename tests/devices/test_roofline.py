from devices.roofline import check, unavoidable_bytes
from synth.spec import SPECS
from tests.devices.programs import case


def test_every_buffer_counts_once() -> None:
    assert unavoidable_bytes(case(1 << 20)) == 8 << 20


def test_an_impossible_time_is_flagged_and_a_cached_one_is_not() -> None:
    spec, big = SPECS["avx512_vnni"], case(1 << 20)
    assert check(1e-9, big, spec, 2).flagged  # 8 MiB in a nanosecond
    assert not check(100e-6, big, spec, 2).flagged  # 84 GB/s: faster than memory, not faster than caches
    assert not check(1.0, big, spec, 2).flagged
