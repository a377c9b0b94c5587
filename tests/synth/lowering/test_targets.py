import pytest

from synth.errors import UnsupportedError
from synth.ir.grammar import Launch
from synth.ir.text import parse_module
from synth.ir.traversal import walk
from synth.lowering.targets import target_of
from synth.spec import SPECS

SERIAL = """module f(x: f32[64i32] host inout) dialect=c {
  for i: i32 in 0i32..64i32 step 1i32 { x[i:i32] = (x[i:i32]:f32 + 1.0f32) }
}"""


@pytest.mark.parametrize(("dialect", "target"), [("cuda", "sm_80"), ("hip", "gfx90a")])
def test_serial_loops_become_launches_on_a_gpu(dialect, target):
    lower, spec = target_of(dialect), SPECS[target]
    root, _ = lower.front(parse_module(SERIAL), spec)
    assert not any(isinstance(s, Launch) for s in walk(root.body))
    final, trace = lower.default_lowering(root, spec)
    assert any(isinstance(s, Launch) for s in walk(final.body)) and trace


def test_a_dialect_without_a_lowering_is_refused_by_name():
    with pytest.raises(UnsupportedError, match="translation to bang is not available"):
        target_of("bang")
