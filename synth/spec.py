"""Device specifications: the limits and widths that passes, code generation and emulators read. Never constants in a pass.

Sources: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability" (shared memory: static, and the
maximum a block); Intel 64 and IA-32 Architectures
Optimization Reference Manual (AVX-512); AMD ROCm documentation, "Accelerator and GPU hardware specifications" (wavefront size, compute
units, LDS of a unit); HIP documentation, "Hardware features" and ``hipDeviceProp_t`` (threads a block, grid); AMD Instinct MI200
and CDNA3 Instruction Set Architecture Reference Guides (wavefronts of 64 lanes, 64 KiB of LDS a work-group); RDNA3 Instruction Set
Architecture Reference Guide (wavefronts of 32 lanes, the default of its compilers).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """Limits of one target.

    ``vector_bits``: SIMD register width; ``warp_size``: lanes that execute in lock step; ``shared_bytes``: static shared memory a block,
    ``shared_opt_in_bytes`` what a kernel may ask for beyond it (0: no more); ``max_grid``: largest grid dimension in x, y, z;
    ``peak_gflops``/``bandwidth_gbs`` are nominal (f32, one device) and used only by the cost model and the roofline flag.
    """

    name: str
    dialect: str
    vector_bits: int = 0
    warp_size: int = 1
    max_threads_per_block: int = 1
    max_block: tuple[int, int, int] = (1, 1, 1)
    max_grid: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    cores: int = 1
    peak_gflops: float = 0.0
    bandwidth_gbs: float = 0.0
    features: frozenset[str] = frozenset()
    shared_opt_in_bytes: int = 0


_CUDA_GRID = (2**31 - 1, 65535, 65535)
_HIP_GRID = (2**31 - 1, 65536, 65536)
_HIP_BLOCK = (1024, 1024, 1024)

SPECS: dict[str, DeviceSpec] = {
    spec.name: spec
    for spec in (
        DeviceSpec(
            "avx512_vnni",
            "vnni",
            vector_bits=512,
            cores=2,
            peak_gflops=150.0,
            bandwidth_gbs=20.0,
            features=frozenset({"avx512f", "avx512_vnni"}),
        ),
        DeviceSpec(
            "sm_70", "cuda", 0, 32, 1024, (1024, 1024, 64), _CUDA_GRID, 48 * 1024, 80, 15700.0, 900.0, shared_opt_in_bytes=96 * 1024
        ),
        DeviceSpec(
            "sm_80", "cuda", 0, 32, 1024, (1024, 1024, 64), _CUDA_GRID, 48 * 1024, 108, 19500.0, 1555.0, shared_opt_in_bytes=163 * 1024
        ),
        DeviceSpec(
            "sm_90", "cuda", 0, 32, 1024, (1024, 1024, 64), _CUDA_GRID, 48 * 1024, 132, 67000.0, 3350.0, shared_opt_in_bytes=227 * 1024
        ),
        # one of the two dies of an MI250X, which is a device of its own
        DeviceSpec("gfx90a", "hip", 0, 64, 1024, _HIP_BLOCK, _HIP_GRID, 64 * 1024, 110, 23950.0, 1638.0, frozenset({"mfma"})),
        DeviceSpec("gfx942", "hip", 0, 64, 1024, _HIP_BLOCK, _HIP_GRID, 64 * 1024, 304, 163400.0, 5300.0, frozenset({"mfma"})),
        DeviceSpec("gfx1100", "hip", 0, 32, 1024, _HIP_BLOCK, _HIP_GRID, 64 * 1024, 96, 61400.0, 960.0, frozenset({"wmma"})),
    )
}

DEFAULT_TARGET = {"vnni": "avx512_vnni", "c": "avx512_vnni", "cuda": "sm_80", "hip": "gfx90a"}


def find_spec(dialect: str, target: str | None) -> DeviceSpec | None:
    """The spec named ``target``, or the default of the dialect; None when there is none or it is of another dialect."""
    spec = SPECS.get(target or DEFAULT_TARGET.get(dialect, ""))
    wanted = "vnni" if dialect == "c" else dialect
    return spec if spec is not None and spec.dialect == wanted else None
