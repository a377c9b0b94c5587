"""Sums that stand for one loop over two, in nests that cannot all be reordered."""

from synth.analysis.extents import complete_params
from synth.frontend import read
from synth.ir.grammar import For
from synth.ir.traversal import walk
from synth.lowering.vnni import default_lowering
from synth.source import ReadOptions, Source
from tests.synth.passes.programs import SPEC, assert_same

BLOCKED = """
void entry(const float *A, const float *B, float *C) {
  for (int ib = 0; ib < 8; ib += 4) {
    for (int i = ib; i < ib + 4; ++i) {
      for (int p = 0; p < 8; ++p) {
        const float a = A[i * 8 + p];
        for (int j = 0; j < 8; ++j) C[i * 8 + j] += a * B[p * 8 + j];
      }
    }
  }
}"""


def test_a_load_between_the_loops_of_a_sum_keeps_them_apart() -> None:
    before = complete_params(read(Source(BLOCKED, "vnni", "f.c"), ReadOptions()).module)
    after, _ = default_lowering(before, SPEC)
    assert_same(before, after)
    assert sum(isinstance(s, For) for s in walk(after.body)) > 1
