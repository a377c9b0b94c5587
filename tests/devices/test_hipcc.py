"""hipcc as a check; skipped where it is not installed."""

import pytest

from devices.device import Program
from devices.hipcc import compile_check, is_available
from devices.status import Status
from synth.spec import SPECS
from tests.devices.programs import gpu

pytestmark = pytest.mark.skipif(not is_available(), reason="hipcc is not installed")

DOUBLED = gpu("hip", "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }")


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1100"])
def test_a_source_compiles_for_targets_that_hipcc_knows(target: str) -> None:
    build = compile_check(Program(DOUBLED, "hip", "entry", (), filename="k.hip"), SPECS[target])
    # a hipcc may be older than a target
    assert build.status is Status.OK or (build.status is Status.UNSUPPORTED and target != "gfx90a"), build.log


def test_an_error_of_hipcc_is_reported() -> None:
    build = compile_check(Program("__global__ void k() { nonsense; }", "hip", "k", ()), SPECS["gfx90a"])
    assert build.status is Status.COMPILE_ERROR and "nonsense" in build.log
