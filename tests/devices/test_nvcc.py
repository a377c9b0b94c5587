import pytest

from devices.device import Program
from devices.nvcc import compile_check, is_available
from devices.status import Status
from experiments.suite.registry import CASES
from synth.spec import SPECS

pytestmark = pytest.mark.skipif(not is_available(), reason="nvcc is not installed")


@pytest.mark.parametrize("text", sorted({case.source for case in CASES["cuda"]}, key=str)[::6], ids=lambda path: path.stem)
def test_files_of_the_suite_compile_for_a_real_target(text: object) -> None:
    program = Program(text.read_text(), "cuda", "", (), filename="suite.cu")  # type: ignore[attr-defined]
    build = compile_check(program, SPECS["sm_80"])
    assert build.status is Status.OK, build.log


def test_an_error_of_nvcc_is_reported() -> None:
    build = compile_check(Program("__global__ void k() { nonsense; }", "cuda", "k", ()), SPECS["sm_80"])
    assert build.status is Status.COMPILE_ERROR and "nonsense" in build.log
