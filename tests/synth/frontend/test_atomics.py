"""Atomic functions from the text to the reference interpreter, and from there to serial code that computes the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from synth.analysis.extents import complete_params
from synth.analysis.races import check_races
from synth.errors import UnsupportedError
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.atomics import is_atomic
from synth.ir.grammar import Call, Launch, Module
from synth.ir.parser import parse_module
from synth.ir.printer import print_module
from synth.ir.traversal import walk
from synth.lowering.vnni import front
from synth.source import LaunchShape, ReadOptions, Source
from synth.spec import find_spec


def module_of(body: str, type_: str = "int", extra: str = "", dialect: str = "cuda") -> Module:
    text = f"{extra}\n__global__ void k({type_}* o, const {type_}* a) {{ int t = threadIdx.x + blockIdx.x * blockDim.x; {body} }}"
    options = ReadOptions(launch=LaunchShape((2, 1, 1), (8, 1, 1)), extents={"o": "16", "a": "16"})
    module = complete_params(read(Source(text, dialect, "k.cu"), options).module)
    verifier.check(module)
    return module


def run(module: Module, dtype=np.int32, start=0) -> list[float]:
    out = np.full(16, start, dtype)
    interpreter.run(module, {"o": out, "a": (np.arange(16) * 7 % 13).astype(dtype)}, max_steps=1_000_000)
    return out.tolist()


A = [i * 7 % 13 for i in range(16)]


@pytest.mark.parametrize(
    ("body", "type_", "start", "expected"),
    [
        ("atomicAdd(o, a[t]);", "int", 5, 5 + sum(A)),
        ("atomicAdd(o, a[t]);", "float", 1, 1 + sum(A)),
        ("atomicSub(o, a[t]);", "int", 5, 5 - sum(A)),
        ("atomicMin(o, a[t] + 2);", "int", 100, 2),
        ("atomicMax(o, a[t]);", "int", 0, 12),
        ("atomicAnd(o, ~(1 << t));", "int", -1, -65536),
        ("atomicOr(o, 1 << a[t]);", "int", 0, 8191),
        ("atomicXor(o, 1 << t);", "int", 0, 65535),
        ("atomicInc(o, 4u);", "unsigned int", 0, 1),  # 0 1 2 3 4 0 ...: 16 steps of 5
        ("atomicDec(o, 4u);", "unsigned int", 0, 4),  # 0 4 3 2 1 0 ...
        ("if (t == 3) atomicExch(o, 9);", "int", 0, 9),
        ("atomicCAS(o, t == 3 ? 7 : 8, 1);", "int", 7, 1),
        ("atomicAdd_block(o, 1);", "int", 0, 16),
        ("atomicMax_system(o, a[t]);", "int", 0, 12),
    ],
)
def test_each_operation_has_its_meaning_in_threads_and_in_serial_code(body: str, type_: str, start: int, expected: float) -> None:
    dtype = {"int": np.int32, "float": np.float32, "unsigned int": np.uint32}[type_]
    module = module_of(body, type_)
    assert run(module, dtype, start)[0] == expected
    serial, _ = front(module, find_spec("vnni", None))  # type: ignore[arg-type]
    assert not any(is_atomic(s) for s in walk(serial.body))
    assert run(serial, dtype, start)[0] == expected


def test_the_old_value_is_kept_only_where_it_is_used() -> None:
    used = module_of("int place = atomicAdd(o, 1); o[1 + place % 15] = 3;")
    unused = module_of("atomicAdd(o, 1);")
    dests = [[len(s.dests) for s in walk(m.body) if isinstance(s, Call)] for m in (used, unused)]
    assert dests == [[2], [1]]
    assert run(used)[0] == 16 and run(used)[1:] == [3] * 15


def test_a_loop_around_compare_and_swap_on_the_bits_of_a_float() -> None:
    extra = """__device__ float atomicMaxFloat(float* p, float v) {
        int* bits = (int*)p; int old = *bits, assumed;
        do { assumed = old; old = atomicCAS(bits, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed)))); } while (assumed != old);
        return __int_as_float(old);
    }"""
    module = module_of("atomicMaxFloat(o, a[t]);", "float", extra)
    serial, _ = front(module, find_spec("vnni", None))  # type: ignore[arg-type]
    assert run(module, np.float32)[0] == run(serial, np.float32)[0] == 12.0


def test_shared_counters_and_histograms() -> None:
    body = """__shared__ int bins[4]; __shared__ int count;
        if (threadIdx.x < 4) bins[threadIdx.x] = 0;
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        atomicAdd(&bins[a[t] & 3], 1); if (a[t] > 5) atomicAdd(&count, 1);
        __syncthreads();
        if (threadIdx.x < 4) atomicAdd(&o[threadIdx.x], bins[threadIdx.x]);
        if (threadIdx.x == 0) atomicAdd(&o[4], count);"""
    module = module_of(body)
    serial, _ = front(module, find_spec("vnni", None))  # type: ignore[arg-type]
    expected = [sum(a & 3 == i for a in A) for i in range(4)] + [sum(a > 5 for a in A)]
    assert run(module)[:5] == run(serial)[:5] == expected
    assert check_races(module).unknown == ()


def test_an_atomic_races_with_plain_accesses_only() -> None:
    assert check_races(module_of("atomicAdd(&o[0], a[t]);")).unknown == ()
    assert check_races(module_of("atomicAdd(&o[0], a[t]); o[1] = o[0];")).unknown != ()
    assert check_races(module_of("atomicAdd(&o[0], o[0]);")).unknown != ()


def test_hip_forms() -> None:
    module = module_of("unsafeAtomicAdd(o, a[t]);", "float", dialect="hip")
    assert run(module, np.float32)[0] == sum(A)


def test_the_text_form_and_the_verifier() -> None:
    module = module_of("int x = atomicCAS(o, 1, 2); o[3] = x;")
    assert print_module(parse_module(print_module(module))) == print_module(module)
    launch = next(s for s in module.body if isinstance(s, Launch))
    call = next(s for s in walk(launch.body) if isinstance(s, Call))
    from synth.ir.traversal import replace_stmt

    broken = replace(module, body=replace_stmt(module.body, call, (replace(call, args=call.args[1:]),)))
    assert any("takes" in v.message for v in verifier.verify(broken))
    other = replace(call, dests=(replace(call.dests[0], buf=module.params[1].sym), *call.dests[1:]))
    assert verifier.verify(replace(module, body=replace_stmt(module.body, call, (other,))))


def test_small_elements_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="in a buffer of i8"):
        module_of("atomicAdd((int*)o, 1);", "char")
