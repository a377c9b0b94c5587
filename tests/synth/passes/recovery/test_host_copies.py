"""host_copies: device buffers become the host's; what must stay apart stays apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from synth.ir.grammar import Alloc, Call, For, Module, Role, Space
from synth.ir.traversal import walk
from synth.passes.host_copies import HostCopies

KERNELS = """__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * 8 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__global__ void inc(float* x, int n) { int i = blockIdx.x * 8 + threadIdx.x; if (i < n) x[i] += 1; }
"""
IN, OUT = "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost"


def _device(*names: str) -> str:
    return "".join(f"float* d{n}; cudaMalloc(&d{n}, n * sizeof(float));" for n in names)


def _entry(params: str, body: str) -> str:
    return KERNELS + f'extern "C" void run({params}, int n) {{ {body} }}'


def _check(simt: Any, text: str, **args: Any) -> tuple[Module, dict[str, Any]]:
    before = simt.cuda(text)
    after = HostCopies().apply(before, simt.spec)
    assert HostCopies().check(before, simt.spec)
    assert not any(isinstance(s, Call) and s.op.startswith("host.") for s in walk(after.body))
    assert not HostCopies().check(after, simt.spec)
    return after, simt.agree(before, after, args)


def _left(module: Module) -> list[str]:
    return [s.sym.name for s in walk(module.body) if isinstance(s, Alloc) and s.space is Space.HOST]


def test_inputs_and_outputs_are_used_in_place(simt: Any) -> None:
    body = _device("x", "y") + f"cudaMemcpy(dx, x, n*4, {IN}); twice<<<2, 8>>>(dx, dy, n); cudaMemcpy(y, dy, n*4, {OUT});"
    x = np.arange(13, dtype=np.float32)
    module, result = _check(simt, _entry("const float* x, float* y", body), x=x, y=np.zeros(13, np.float32), n=13)
    np.testing.assert_array_equal(result["y"], 2 * x)
    assert _left(module) == []
    assert [p.role for p in module.params if p.is_buffer] == [Role.IN, Role.OUT]


def test_temporary_between_launches_stays(simt: Any) -> None:
    launches = "twice<<<2, 8>>>(dx, dt, n); twice<<<2, 8>>>(dt, dy, n);"
    body = _device("x", "t", "y") + f"cudaMemcpy(dx, x, n*4, {IN}); {launches} cudaMemcpy(y, dy, n*4, {OUT});"
    x = np.arange(13, dtype=np.float32)
    module, result = _check(simt, _entry("const float* x, float* y", body), x=x, y=np.zeros(13, np.float32), n=13)
    np.testing.assert_array_equal(result["y"], 4 * x)
    assert _left(module) == ["dt"]


def test_modified_input_that_is_not_copied_back_is_copied_to_a_temporary(simt: Any) -> None:
    launches = "inc<<<2, 8>>>(dx, n); twice<<<2, 8>>>(dx, dy, n);"
    body = _device("x", "y") + f"cudaMemcpy(dx, x, n*4, {IN}); {launches} cudaMemcpy(y, dy, n*4, {OUT});"
    x = np.arange(13, dtype=np.float32)
    module, result = _check(simt, _entry("float* x, float* y", body), x=x.copy(), y=np.zeros(13, np.float32), n=13)
    np.testing.assert_array_equal(result["x"], x)
    np.testing.assert_array_equal(result["y"], 2 * (x + 1))
    assert _left(module) == ["dx"]
    assert any(isinstance(s, For) and s.sym.name == "copy" for s in module.body)


def test_in_place_buffer(simt: Any) -> None:
    body = _device("x") + f"cudaMemcpy(dx, x, n*4, {IN}); inc<<<2, 8>>>(dx, n); cudaMemcpy(x, dx, n*4, {OUT});"
    module, result = _check(simt, _entry("float* x", body), x=np.ones(9, np.float32), n=9)
    np.testing.assert_array_equal(result["x"], np.full(9, 2))
    assert _left(module) == []
    assert module.params[0].role is Role.INOUT


def test_copy_through_one_buffer_becomes_a_loop_into_the_output(simt: Any) -> None:
    body = _device("x") + f"cudaMemcpy(dx, x, n*4, {IN}); inc<<<2, 8>>>(dx, n); cudaMemcpy(y, dx, n*4, {OUT});"
    x = np.arange(9, dtype=np.float32)
    module, result = _check(simt, _entry("const float* x, float* y", body), x=x, y=np.zeros(9, np.float32), n=9)
    np.testing.assert_array_equal(result["y"], x + 1)
    assert _left(module) == []


def test_fill_becomes_a_loop(simt: Any) -> None:
    body = _device("x") + f"cudaMemset(dx, 0, n*4); inc<<<1, 8>>>(dx, n - 2); cudaMemcpy(x, dx, n*4, {OUT});"
    module, result = _check(simt, _entry("float* x", body), x=np.full(9, 5, np.float32), n=9)
    np.testing.assert_array_equal(result["x"], [1, 1, 1, 1, 1, 1, 1, 0, 0])
    assert _left(module) == []


def test_output_read_back_too_early_stays_apart(simt: Any) -> None:
    """The host keeps the values of the first launch although the device goes on."""
    body = _device("x") + f"cudaMemcpy(dx, x, n*4, {IN}); inc<<<2, 8>>>(dx, n); cudaMemcpy(x, dx, n*4, {OUT}); inc<<<2, 8>>>(dx, n);"
    module, result = _check(simt, _entry("float* x", body), x=np.ones(9, np.float32), n=9)
    np.testing.assert_array_equal(result["x"], np.full(9, 2))
    assert _left(module) == ["dx"]


def test_device_pointers_need_nothing(simt: Any) -> None:
    module = simt.cuda(KERNELS + 'extern "C" void run(float* x, int n) { inc<<<2, 8>>>(x, n); }')
    assert HostCopies.space(module, simt.spec) == ()
    assert not HostCopies().check(module, simt.spec)
