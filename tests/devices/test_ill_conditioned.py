"""Results that differ from the source where the source itself depends on the last bits of its inputs."""

from devices.device import Program
from devices.evaluation import Candidate, Problem
from devices.evaluator import InProcessEvaluator
from devices.status import Status
from synth import frontend
from synth.analysis.extents import complete_params
from synth.evidence.tolerance import tolerances
from synth.evidence.vectors import synthesise
from synth.source import ReadOptions, Source

SOURCE = """#include <math.h>
void f(const float* x, const float* w, float* y) {
  for (int i = 0; i < 8; i++) {
    float dot = 0.0f;
    for (int k = 0; k < 256; k++) dot += x[i * 256 + k] * w[k];
    y[i] = expf(dot / 300.0f);
  }
}
"""


def status(text: str) -> tuple[Status, dict[str, object]]:
    options = ReadOptions()
    module = complete_params(frontend.read(Source(SOURCE, "vnni", "f.c"), options).module)
    program = Program(SOURCE, "vnni", "f", module.params, filename="f.c")
    problem = Problem(program, "avx512_vnni", "avx512_vnni", synthesise(module, options, 0), tolerances(module))
    (result,) = InProcessEvaluator(problem).evaluate([Candidate("k", Program(text, "vnni", "f", module.params, filename="g.c"))])
    return result.status, result.details


def test_another_order_of_a_sum_below_an_exponential_is_right() -> None:
    backwards = SOURCE.replace("int k = 0; k < 256; k++", "int k = 255; k >= 0; k--")
    found, details = status(backwards)
    assert found is Status.OK, details


def test_a_term_that_is_left_out_is_wrong() -> None:
    assert status(SOURCE.replace("k < 256", "k < 255"))[0] is Status.MISMATCH
    assert status(SOURCE.replace("/ 300.0f", "/ 300.1f"))[0] is Status.MISMATCH
