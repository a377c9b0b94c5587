"""Is this installation able to do its main job? One check a line, each with what to do when it fails."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True, slots=True)
class Check:
    """``required``: the main job does not work without it."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
    required: bool = True


PACKAGES = {"libclang": "clang.cindex", "z3-solver": "z3", "ray": "ray", "optuna": "optuna", "numpy": "numpy"}


def diagnose() -> tuple[Check, ...]:
    """All checks; takes a few seconds, since it imports what it checks and compiles a small kernel."""
    checks = [_package(name, module) for name, module in PACKAGES.items()]
    compiler = shutil.which("g++")
    checks.append(Check("g++", compiler is not None, compiler or "not found", "install g++ (Debian: apt-get install g++)"))
    if all(check.ok for check in checks):
        checks.append(_round_trip())
    return (*checks, *_devices())


def _package(name: str, module: str) -> Check:
    try:
        import_module(module)
        return Check(name, True, version(name))
    except (ImportError, PackageNotFoundError) as error:
        return Check(name, False, str(error), f"pip install {name}")


_KERNEL = """
__global__ void doctor(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
extern "C" void entry(const float* x, float* y, int n) {
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, x, n * sizeof(float), cudaMemcpyHostToDevice);
    doctor<<<(n + 63) / 64, 64>>>(a, b, n);
    cudaMemcpy(y, b, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
}
"""


def _round_trip() -> Check:
    from synth.source import Source
    from xpiler.options import Options
    from xpiler.translation import translate_source

    result = translate_source(Source("#include <cuda_runtime.h>\n" + _KERNEL, "cuda", "doctor.cu"), "vnni", Options())
    reason = "; ".join(d.message for d in result.diagnostics if d.severity == "error")
    return Check(
        "cuda to vnni, end to end", result.ok, f"{result.status.value} in {result.seconds.get('total', 0.0):.1f} s {reason}".rstrip()
    )


def _devices() -> list[Check]:
    from devices.probe import probe

    return [Check(f"device {d.name}", d.available, d.detail, d.hint, required=False) for d in probe()]
