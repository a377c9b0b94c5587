"""CUDA and HIP as they are printed: golden files, emulators and frontends beside the interpreter, and nvcc where it is installed."""

import numpy as np
import pytest

from devices import nvcc
from devices.device import Program
from devices.registry import find_device
from devices.status import Status
from synth import frontend
from synth.analysis.extents import complete_params
from synth.codegen import emit
from synth.errors import UnsupportedError
from synth.evidence.cases import NUMPY_DTYPES, BufferArg, ScalarArg, TestCase
from synth.ir import interpreter, verifier
from synth.ir.grammar import Role
from synth.ir.text import parse_module
from synth.lowering.targets import target_of
from synth.source import ReadOptions, Source
from synth.spec import SPECS
from tests.synth.codegen import gpu_programs

PROGRAMS = {
    "half": gpu_programs.half("f16"),
    "bfloat": gpu_programs.half("bf16"),
    "sum": gpu_programs.SUM,
    "votes": gpu_programs.VOTES,
    "mixed": gpu_programs.MIXED,
    "dynamic": gpu_programs.DYNAMIC,
}
TARGETS = {"cuda": SPECS["sm_80"], "hip": SPECS["gfx90a"]}
SCALARS = {"half": {}, "bfloat": {}, "sum": {"n": 250}, "votes": {}, "mixed": {}, "dynamic": {"n": 24}}


SIZES = {
    "half": {"x": 64, "y": 64},
    "sum": {"x": 250, "y": 4},
    "votes": {"x": 64, "y": 64},
    "mixed": {"x": 256, "w": 4, "y": 256},
    "dynamic": {"x": 48, "y": 48},
}


def lowered(name, dialect):
    module = parse_module(PROGRAMS[name])
    verifier.check(module)
    spec = TARGETS[dialect]
    final, _ = target_of(dialect).default_lowering(module, spec)
    verifier.check(final)
    return module, final, emit(final, spec)


def arguments(module, name):
    rng = np.random.default_rng(11)
    given = dict(SCALARS[name])
    sizes = SIZES[name]
    for p in module.params:
        if p.is_buffer:
            values = rng.integers(0, 100, sizes[p.sym.name])
            given[p.sym.name] = values.astype(NUMPY_DTYPES[p.dtype])
    return given


def interpreted(module, given):
    args = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
    interpreter.run(module, args)
    return args


@pytest.mark.parametrize("dialect", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_golden(name, dialect, golden):
    golden(f"{name}.{'cu' if dialect == 'cuda' else 'hip'}", lowered(name, dialect)[2])


RUN = [(name, dialect) for name in SIZES for dialect in TARGETS if (name, dialect) != ("half", "hip")]


@pytest.mark.parametrize(("name", "dialect"), RUN)
def test_the_printed_text_computes_what_the_interpreter_says(name, dialect):
    module, final, text = lowered(name, dialect)
    given = arguments(module, name)
    expected = interpreted(module, given)
    args = tuple(
        BufferArg(p.sym.name, p.dtype, len(given[p.sym.name]), p.role, None if p.role is Role.OUT else given[p.sym.name])
        if p.is_buffer
        else ScalarArg(p.sym.name, p.dtype, given[p.sym.name])
        for p in module.params
    )
    device = find_device(dialect, prefer="emulated")
    build = device.build(Program(text, dialect, final.name, final.params, filename=f"{name}.{dialect}"))
    assert build.status is Status.OK, build.log
    (run,) = device.run(build, (TestCase(final.name, args, "random", 0),), 30.0)
    assert run.status is Status.OK, run.log
    for p in module.params:
        if p.is_buffer:
            assert np.allclose(run.outputs[p.sym.name], expected[p.sym.name], rtol=1e-6, atol=0), p.sym.name


@pytest.mark.parametrize("dialect", TARGETS)
@pytest.mark.parametrize("name", ["sum", "votes", "mixed"])
def test_the_printed_text_is_read_back_as_the_same_program(name, dialect):
    module, _, text = lowered(name, dialect)
    again = complete_params(frontend.read(Source(text, dialect, f"{name}.{dialect}"), ReadOptions()).module)
    given = arguments(module, name)
    expected, found = interpreted(module, given), interpreted(again, given)
    for key, value in expected.items():
        assert np.allclose(found[key], value, rtol=1e-6, atol=0), key


@pytest.mark.skipif(not nvcc.is_available(), reason="nvcc is not installed")
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nvcc_compiles_the_printed_text(name, target):
    _, final, text = lowered(name, "cuda")
    build = nvcc.compile_check(Program(text, "cuda", final.name, final.params, filename=f"{name}.cu"), SPECS[target])
    assert build.status is Status.OK, build.log


# ------------------------------------------------------------------------------------------------------- statements


def thread(body: str, dialect: str = "cuda", **shape: str) -> list[str]:
    """The printed lines of the body of a thread."""
    text = gpu_programs.launched(
        body,
        params="x: f32[64i64] host in const, q: i64[64i64] host inout, n: i32",
        buffers="  alloc a: f32[64i64] global\n  alloc b: i64[64i64] global",
        **shape,
    )
    module = parse_module(text)
    verifier.check(module)
    final, _ = target_of(dialect).default_lowering(module, TARGETS[dialect])
    lines = emit(final, TARGETS[dialect]).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("__global__"))
    return [line.strip() for line in lines[start + 1 : lines.index("}", start)]]


@pytest.mark.parametrize(
    ("body", "cuda", "hip"),
    [
        ("sync block a[tx:u32] = 0.0f32", "__syncthreads();", "__syncthreads();"),
        ("sync warp a[tx:u32] = 0.0f32", "__syncwarp();", '__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");'),
        ("a[tx:u32] = max(a[tx:u32]:f32, 1.0f32)", "a[threadIdx.x] = fmaxf(a[threadIdx.x], 1.0f);", None),
        ("a[tx:u32] = math.exp<f32>(a[tx:u32]:f32)", "a[threadIdx.x] = expf(a[threadIdx.x]);", None),
        (
            "b[tx:u32] = bitcast<i64>(cast<f64>(a[tx:u32]:f32))",
            "b[threadIdx.x] = (int64_t)__double_as_longlong((double)a[threadIdx.x]);",
            None,
        ),
        (
            "alloc t: i64[] local call warp.shfl(&t[]; 4294967295u32, b[tx:u32]:i64, 3i32, 8i32) b[tx:u32] = t[]:i64",
            "int64_t t = __shfl_sync(0xffffffffu, b[threadIdx.x], 3, 8);",
            "int64_t t = __shfl(b[threadIdx.x], 3, 8);",
        ),
        ("if (tx:u32 > 60u32) { return } a[tx:u32] = 1.0f32", "return;", None),
        (
            "alloc t: f32[2i32] local t[0i32] = a[tx:u32]:f32 a[tx:u32] = t[0i32]:f32",
            "float t[2];",
            None,
        ),
    ],
)
def test_statements(body, cuda, hip):
    assert cuda in thread(body)
    assert (hip or cuda) in thread(body, "hip")


def test_sizes_of_the_grid_are_passed_by_value_where_a_thread_uses_them():
    text = gpu_programs.module(
        "f",
        "x: f32[64i64] host inout, n: i32",
        "  alloc a: f32[64i64] global\n  let g = cast<u32>(n:i32)\n  launch k {\n"
        + gpu_programs.nest("a[bx:u32] = cast<f32>(g:u32)", grid="g:u32")
        + "\n  }",
    )
    printed = emit(parse_module(text), SPECS["sm_80"])
    assert "__global__ void __launch_bounds__(64) k(float *a, unsigned g) {" in printed and "k<<<g, 64>>>(a, g);" in printed


def test_arrays_that_do_not_fit_are_dynamic_and_asked_for():
    body = "big[tx:u32] = 1.0f32 sync block a[tx:u32] = big[(63u32 - tx:u32)]:f32"
    text = gpu_programs.launched(
        body, params="x: f32[64i64] host inout", buffers="  alloc a: f32[64i64] global", shared="alloc big: f32[16384i32] shared"
    )
    printed = emit(parse_module(text), SPECS["sm_80"])
    assert "extern __shared__ __align__(16) unsigned char dynamic_shared[];" in printed
    assert "float *const big = reinterpret_cast<float *>(dynamic_shared);" in printed
    assert "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)65536)" in printed
    assert "__shared__ float big[16384];" in emit(parse_module(text), SPECS["gfx90a"])


def test_parameters_may_alias_and_own_buffers_do_not():
    body = "x[tx:u32] = (y[tx:u32]:f32 + a[tx:u32]:f32)"
    text = gpu_programs.launched(
        body, params="x: f32[64i64] global inout, y: f32[64i64] global in const", buffers="  alloc a: f32[64i64] global"
    )
    assert "k(const float *y, const float *__restrict__ a, float *x)" in emit(parse_module(text), SPECS["sm_80"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[tx:u32] = x[tx:u32]:f32", "kernel 'k' uses 'x', which is memory of the host"),
        ("alloc t: f32[n:i32] local a[tx:u32] = 0.0f32", "array 't' of a thread has a size that is not constant"),
        ("alloc t: f32[200000i32] local a[tx:u32] = 0.0f32", "array 't' of a thread is larger than"),
    ],
)
def test_refusals_name_the_construct(body, message):
    with pytest.raises(UnsupportedError, match=message):
        thread(body)
