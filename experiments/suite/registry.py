"""Every case of the suite: operator and shape, the source file and how its sizes are given to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments.suite.shapes import OPERATORS, Dims

SOURCES = Path(__file__).parent / "cuda"


@dataclass(frozen=True, slots=True)
class Variant:
    """One source file of an operator. Its sizes are macros of the same name as the dimensions, or, in ``binds``, scalar parameters of the
    entry in their order, each with its dimension."""

    file: str
    macros: tuple[str, ...] = ()
    binds: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> Path:
        return SOURCES / self.file


@dataclass(frozen=True, slots=True)
class Case:
    """``dims`` are the sizes as run. Where they differ from the canonical shape, ``reason`` says why and ``scaled`` is true; the text is
    the same, only the sizes given to it change."""

    operator: str
    shape: str
    source: Path
    dims: Dims
    defines: dict[str, str] = field(default_factory=dict)
    binds: dict[str, int] = field(default_factory=dict)
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.operator}_{self.shape}"

    @property
    def entry(self) -> str:
        return self.operator

    @property
    def scaled(self) -> bool:
        return bool(self.reason)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options that give the sizes to ``xpiler``."""
        options = [part for name, value in self.defines.items() for part in ("-D", f"{name}={value}")]
        options += [part for name, value in self.binds.items() for part in ("--bind", f"{name}={value}")]
        return tuple(options)


def _same(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), name) for name in names)


_GEMM = ("M", "K", "N")
_BMM = ("BATCH", *_GEMM)
_LAYERNORM = ("BATCH", "SEQ", "DIM")
_POOL = ("BATCH", "SIZE", "CHANNELS", "KERNEL", "STRIDE")
_CONV = ("BATCH", "SIZE", "IN_CHANNELS", "OUT_CHANNELS", "KERNEL", "STRIDE")

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "gemm": (
        Variant("gemm_tiled.cu", _GEMM),
        Variant("gemm_naive.cu", _GEMM),
        Variant("gemm_register.cu", _GEMM),
        Variant("gemm_params.cu", binds=_same(*_GEMM)),
    ),
    "bmm": (Variant("bmm_tiled.cu", _BMM), Variant("bmm_grid_stride.cu", _BMM), Variant("bmm_naive.cu", _BMM)),
    "softmax": (
        Variant("softmax_shuffle.cu", ("ROWS", "COLS")),
        Variant("softmax_shared_tree.cu", ("ROWS", "COLS")),
        Variant("softmax_online.cu", ("ROWS", "COLS")),
        Variant("softmax_warp.cu", binds=_same("ROWS", "COLS")),
        Variant("softmax_naive.cu", ("ROWS", "COLS")),
    ),
    "layernorm": (
        Variant("layernorm_shared.cu", _LAYERNORM),
        Variant("layernorm_warp.cu", _LAYERNORM),
        Variant("layernorm_naive.cu", _LAYERNORM),
        Variant("layernorm_stages.cu", binds=_same("ROWS", "DIM")),
    ),
    "gelu": (
        Variant("gelu_naive.cu", ("N",)),
        Variant("gelu_float4.cu", ("N",)),
        Variant("gelu_grid_stride.cu", binds=_same("N")),
        Variant("gelu_functor.cu", ("N",)),
    ),
    "add": (
        Variant("add_float4.cu", ("N",)),
        Variant("add_matrix.cu", ("ROWS", "COLS")),
        Variant("add_template.cu", binds=_same("N")),
        Variant("add_naive.cu", ("N",)),
    ),
    "maxpool": (
        Variant("maxpool_naive.cu", _POOL),
        Variant("maxpool_channels.cu", _POOL),
        Variant("maxpool_params.cu", binds=_same(*_POOL)),
    ),
    "conv2d": (
        Variant("conv2d_direct.cu", _CONV),
        Variant("conv2d_shared.cu", _CONV),
        Variant("conv2d_params.cu", binds=_same(*_CONV)),
    ),
}

# Sizes that replace the canonical ones, with the reason.
SCALED: dict[str, tuple[Dims, str]] = {}


def case_of(operator: str, variant: Variant, shape: str, dims: Dims, reason: str = "") -> Case:
    """The case that runs a variant at the given dimensions."""
    defines = {name: str(dims[name]) for name in variant.macros}
    binds = {parameter: dims[dimension] for parameter, dimension in variant.binds}
    return Case(operator, shape, variant.path, dims, defines, binds, reason)


def _cases() -> tuple[Case, ...]:
    found = []
    for operator, description in OPERATORS.items():
        variants = VARIANTS[operator]
        for number, shape in enumerate(description.cases):
            canonical = description.dims(tuple(map(int, shape.split("_"))))
            dims, reason = SCALED.get(f"{operator}_{shape}", (canonical, ""))
            found.append(case_of(operator, variants[number % len(variants)], shape, dims, reason))
    return tuple(found)


CASES: tuple[Case, ...] = _cases()
