import pytest

from synth.errors import UnsupportedError
from synth.ir.grammar import Launch
from synth.ir.text import parse_module
from synth.ir.traversal import walk
from synth.lowering import gpu
from synth.lowering.report import structure
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


ONE_THREAD = """module f(x: f32[64i64] host inout) dialect=c {
  alloc d: f32[64i64] global
  call host.copy(&d[0i64] of [64i64]; &x[0i64] of [64i64])
  launch k {
    for.block.z bz: u32 in 0u32..1u32 step 1u32 { for.block.y by: u32 in 0u32..1u32 step 1u32 {
    for.block.x bx: u32 in 0u32..1u32 step 1u32 {
      for.thread.z tz: u32 in 0u32..1u32 step 1u32 { for.thread.y ty: u32 in 0u32..1u32 step 1u32 {
      for.thread.x tx: u32 in 0u32..1u32 step 1u32 {
        for i: i32 in 0i32..64i32 step 1i32 { BODY }
      } } }
    } } }
  }
  call host.copy(&x[0i64] of [64i64]; &d[0i64] of [64i64])
}"""


def test_a_kernel_of_one_thread_is_bound_anew_where_its_loop_is_parallel():
    parallel = parse_module(ONE_THREAD.replace("BODY", "d[i:i32] = (d[i:i32]:f32 + 1.0f32)"))
    final, _ = target_of("cuda").default_lowering(parallel, SPECS["sm_80"])
    assert not structure(final).is_serial


def test_a_result_on_one_thread_is_refused_where_a_loop_is_parallel(monkeypatch):
    parallel = parse_module(ONE_THREAD.replace("BODY", "d[i:i32] = (d[i:i32]:f32 + 1.0f32)"))
    monkeypatch.setattr(gpu, "bind_to_gpu", lambda module, spec: (module, ()))
    with pytest.raises(UnsupportedError, match="would run on one thread, and the iterations of loop 'i' are independent"):
        target_of("cuda").default_lowering(parallel, SPECS["sm_80"])


def test_a_result_on_one_thread_is_a_result_where_no_loop_is_parallel():
    serial = parse_module(ONE_THREAD.replace("BODY", "d[i:i32] = (d[max((i:i32 - 1i32), 0i32)]:f32 + 1.0f32)"))
    final, _ = target_of("cuda").default_lowering(serial, SPECS["sm_80"])
    assert structure(final).is_serial


def test_the_shape_of_launches_is_reported():
    final, _ = target_of("hip").default_lowering(parse_module(SERIAL), SPECS["gfx90a"])
    (launch,) = structure(final).to_json()["launches"]
    assert launch["grid"][0] * launch["block"][0] >= 64 and launch["shared_bytes"] == 0 and not launch["tensor_units"]
