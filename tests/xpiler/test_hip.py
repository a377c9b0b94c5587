"""HIP files to the CPU, end to end: the emulated wavefronts are the oracle."""

from pathlib import Path

import pytest

from xpiler import translate

SAMPLES = Path(__file__).parents[1] / "synth" / "frontend" / "samples"


@pytest.mark.parametrize("name", ["ballot_compact.hip", "block_sum.hip", "row_scale.hip"])
def test_hip_to_vnni(name: str) -> None:
    result = translate(SAMPLES / name, to="vnni")
    assert result.ok, result.diagnostics
    assert result.from_dialect == "hip"
