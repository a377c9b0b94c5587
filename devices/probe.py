"""What this machine has: compilers and devices, found by looking, each with what to do when it is missing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from devices.hipcc import HIPCC
from devices.native_cpu import COMPILER, cpu_flags
from devices.nvidia_gpu import has_gpu
from devices.sandbox import run_command, workspace

AVX512 = ("avx512f", "avx512vl", "avx512bw", "avx512dq")


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """One device or tool. ``kind``: ``hardware``, ``emulated`` or ``compiler``."""

    name: str
    kind: str
    available: bool
    detail: str
    hint: str = ""


def probe() -> tuple[DeviceReport, ...]:
    """Everything that xpiler can use, in the order in which it matters. Runs a few ``--version`` commands."""
    return (
        _host_compiler(),
        _cpu(),
        _emulator("cuda"),
        _emulator("hip"),
        _tool("nvcc", "CUDA", "--version"),
        _gpu(),
        _tool("hipcc", "HIP", "--version", prefix=HIPCC.prefix),
        _mlu(),
    )


def _host_compiler() -> DeviceReport:
    version = _version(COMPILER, "--version")
    return DeviceReport("g++", "compiler", bool(version), version or "not found", "install g++ (Debian: apt-get install g++)")


def _cpu() -> DeviceReport:
    flags = set(cpu_flags().split())
    missing = [f for f in AVX512 if f not in flags]
    vnni = "with VNNI" if "avx512_vnni" in flags else "without VNNI"
    detail = f"AVX-512 {vnni}" if not missing else f"no {', '.join(missing)}: results run as scalar code"
    return DeviceReport("cpu (vnni)", "hardware", True, detail)


def _emulator(dialect: str) -> DeviceReport:
    found = shutil.which(COMPILER) is not None
    detail = f"runs {dialect.upper()} sources on the CPU" if found else "needs g++"
    return DeviceReport(f"{dialect} emulator", "emulated", found, detail, "install g++")


def _gpu() -> DeviceReport:
    present = has_gpu()
    detail = "found" if present else "no /dev/nvidia0, or nvidia-smi lists none"
    return DeviceReport("nvidia gpu", "hardware", present, detail, "CUDA sources run on the emulator instead")


def _mlu() -> DeviceReport:
    present = Path("/dev/cambricon_dev0").exists()
    return DeviceReport(
        "cambricon mlu", "hardware", present, "found" if present else "no /dev/cambricon_dev0", "BANG C is not translated yet"
    )


def _tool(name: str, dialect: str, *arguments: str, prefix: tuple[str, ...] = ()) -> DeviceReport:
    version = _version(name, *arguments, prefix=prefix)
    return DeviceReport(name, "compiler", bool(version), version or "not found", f"optional: it would compile-check {dialect} sources")


def _version(name: str, *arguments: str, prefix: tuple[str, ...] = ()) -> str:
    """The telling line of a tool's version, empty when it is not there or does not answer."""
    path = shutil.which(name)
    if path is None:
        return ""
    with workspace() as folder:
        done = run_command((*prefix, path, *arguments), 20.0, folder)
    if not done.succeeded:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return next((line for line in lines if "release" in line or "Build" in line), lines[0] if lines else "found").strip()
