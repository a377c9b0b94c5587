"""Integer intrinsics and warp reductions: threads, serial code and the emulator's bodies against the manual's formulas."""

from __future__ import annotations

import numpy as np
import pytest

from devices.registry import find_device
from devices.status import Status
from synth.analysis.extents import complete_params
from synth.errors import UnsupportedError
from synth.frontend import read
from synth.ir import interpreter, verifier
from synth.ir.grammar import Module
from synth.lowering.vnni import front
from synth.source import LaunchShape, ReadOptions, Source
from synth.spec import find_spec
from tests.devices.programs import cuda, run

LANES = 32
BITS = np.random.default_rng(5).integers(0, 1 << 32, 3 * LANES, dtype=np.uint64).astype(np.uint32)
BITS[:6] = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080]
X, Y, Z = ([int(v) for v in part] for part in np.split(BITS, 3))


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bytes_of(value: int, *, sign: bool) -> list[int]:
    return [signed(value >> s, 8) if sign else value >> s & 255 for s in (0, 8, 16, 24)]


def dot(x: int, y: int, z: int, *, sign: bool) -> int:
    return z + sum(a * b for a, b in zip(bytes_of(x, sign=sign), bytes_of(y, sign=sign), strict=True))


FORMULAS = [
    ("__brev(x)", lambda x, y, z: int(f"{x:032b}"[::-1], 2)),
    ("__byte_perm(x, y, 0x5410)", lambda x, y, z: x & 0xFFFF | (y & 0xFFFF) << 16),
    ("__byte_perm(x, y, 0x0123)", lambda x, y, z: int.from_bytes(x.to_bytes(4, "big"), "little")),
    ("__byte_perm(x, y, 0x7632)", lambda x, y, z: x >> 16 | y & 0xFFFF0000),
    ("__funnelshift_l(x, y, z)", lambda x, y, z: ((y << 32 | x) << (z & 31)) >> 32),
    ("__funnelshift_r(x, y, z)", lambda x, y, z: (y << 32 | x) >> (z & 31)),
    ("__usad(x, y, z)", lambda x, y, z: abs(x - y) + z),
    ("__sad((int)x, (int)y, z)", lambda x, y, z: abs(signed(x) - signed(y)) + z),
    ("__sad((int)x, (int)y, z) / 2", lambda x, y, z: (abs(signed(x) - signed(y)) + z) % (1 << 32) // 2),
    ("__hadd((int)x, (int)y)", lambda x, y, z: (signed(x) + signed(y)) >> 1),
    ("__rhadd((int)x, (int)y)", lambda x, y, z: (signed(x) + signed(y) + 1) >> 1),
    ("__dp4a((int)x, (int)y, (int)z)", lambda x, y, z: dot(x, y, z, sign=True)),
    ("__dp4a(x, y, z)", lambda x, y, z: dot(x, y, z, sign=False)),
    ("__reduce_add_sync(0xffffffff, x)", lambda x, y, z: sum(X)),
    ("__reduce_add_sync(~0u, (int)x)", lambda x, y, z: sum(X)),
    ("__reduce_min_sync(-1, (int)x)", lambda x, y, z: min(map(signed, X))),
    ("__reduce_max_sync(~0u, x)", lambda x, y, z: max(X)),
    ("__reduce_and_sync(~0u, x | 5u)", lambda x, y, z: int(np.bitwise_and.reduce([v | 5 for v in X]))),
    ("__reduce_or_sync(~0u, x & 6u)", lambda x, y, z: int(np.bitwise_or.reduce([v & 6 for v in X]))),
    ("__reduce_xor_sync(~0u, x)", lambda x, y, z: int(np.bitwise_xor.reduce(X))),
]


def module_of(expression: str) -> Module:
    text = f"""__global__ void k(unsigned *o, const unsigned *a) {{
    unsigned x = a[threadIdx.x], y = a[threadIdx.x + {LANES}], z = a[threadIdx.x + {2 * LANES}];
    o[threadIdx.x] = {expression}; }}"""
    options = ReadOptions(launch=LaunchShape((1, 1, 1), (LANES, 1, 1)), extents={"o": "32", "a": "96"})
    module = complete_params(read(Source(text, "cuda", "k.cu"), options).module)
    verifier.check(module)
    return module


def interpreted(module: Module) -> list[int]:
    out = np.zeros(LANES, np.uint32)
    interpreter.run(module, {"o": out, "a": BITS}, max_steps=2_000_000)
    return [int(v) for v in out]


@pytest.mark.parametrize(("expression", "formula"), FORMULAS)
def test_threads_and_serial_code_compute_the_formula(expression, formula):
    expected = [formula(*given) & 0xFFFFFFFF for given in zip(X, Y, Z, strict=True)]
    module = module_of(expression)
    assert interpreted(module) == expected
    serial, _ = front(module, find_spec("vnni", None))
    assert interpreted(serial) == expected


def test_the_emulator_computes_the_formulas() -> None:
    """``out[i]`` is the number of threads whose value of formula ``i`` is not the expected one."""
    expected = [formula(*given) & 0xFFFFFFFF for _, formula in FORMULAS for given in zip(X, Y, Z, strict=True)]
    body = "".join(
        f"wrong = __popc(__ballot_sync(~0u, (unsigned)({e}) != want[{LANES * i} + t])); if (t == 0) out[{i}] = wrong;\n"
        for i, (e, _) in enumerate(FORMULAS)
    )
    given, wanted = (", ".join(f"{v}u" for v in values) for values in ([*X, *Y, *Z], expected))
    kernel = f"""__constant__ unsigned a[] = {{{given}}}, want[] = {{{wanted}}};
    __global__ void k(const float* in, float* out) {{
        unsigned t = threadIdx.x, x = a[t], y = a[t + {LANES}], z = a[t + {2 * LANES}], wrong;
        out[t] = out[t + {LANES}] = 1;
        __syncwarp();
        {body}
    }}"""
    (done,) = run(find_device("cuda", prefer="emulated"), cuda(kernel, 1, LANES), "cuda")
    assert done.status is Status.OK, done.log
    wrong = done.outputs["y"][: len(FORMULAS)].tolist()
    assert dict(zip([e for e, _ in FORMULAS], wrong, strict=True)) == {e: 0 for e, _ in FORMULAS}


def test_dp4a_of_vectors_takes_their_elements():
    vectors = "__dp4a(make_char4(-1, 2, -3, 4), make_char4(5, -6, 7, -8), (int)x)"
    assert interpreted(module_of(vectors)) == [(v - 70) & 0xFFFFFFFF for v in X]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("__reduce_add_sync(0xffu, x)", "part of a warp"),
        ("__reduce_max_sync(z, x)", "part of a warp"),
        ("__byte_perm(x, y, 0x8000)", "selector"),
        ("__byte_perm(x, y, z)", "selector"),
    ],
)
def test_what_is_not_known_to_be_right_is_refused(expression, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        module_of(expression)
    assert caught.value.location is not None and caught.value.location.line == 3
