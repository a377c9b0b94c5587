"""The CUDA sources of the suite. See ``experiments.suite.variant`` for the rules."""

from __future__ import annotations

from experiments.suite.variant import BMM, CONV, GEMM, LAYERNORM, POOL, Variant, same

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "gemm": (
        Variant("gemm_tiled.cu", GEMM),
        Variant("gemm_naive.cu", GEMM),
        Variant("gemm_register.cu", GEMM),
        Variant("gemm_params.cu", binds=same(*GEMM)),
    ),
    "bmm": (Variant("bmm_tiled.cu", BMM), Variant("bmm_grid_stride.cu", BMM), Variant("bmm_naive.cu", BMM)),
    "softmax": (
        Variant("softmax_shuffle.cu", ("ROWS", "COLS")),
        Variant("softmax_shared_tree.cu", ("ROWS", "COLS")),
        Variant("softmax_online.cu", ("ROWS", "COLS")),
        Variant("softmax_warp.cu", binds=same("ROWS", "COLS")),
        Variant("softmax_naive.cu", ("ROWS", "COLS")),
    ),
    "layernorm": (
        Variant("layernorm_shared.cu", LAYERNORM),
        Variant("layernorm_warp.cu", LAYERNORM),
        Variant("layernorm_naive.cu", LAYERNORM),
        Variant("layernorm_stages.cu", binds=same("ROWS", "DIM")),
    ),
    "gelu": (
        Variant("gelu_naive.cu", ("N",)),
        Variant("gelu_float4.cu", ("N",)),
        Variant("gelu_grid_stride.cu", binds=same("N")),
        Variant("gelu_functor.cu", ("N",)),
    ),
    "add": (
        Variant("add_float4.cu", ("N",)),
        Variant("add_matrix.cu", ("ROWS", "COLS")),
        Variant("add_template.cu", binds=same("N")),
        Variant("add_naive.cu", ("N",)),
    ),
    "maxpool": (
        Variant("maxpool_naive.cu", POOL),
        Variant("maxpool_channels.cu", POOL),
        Variant("maxpool_params.cu", binds=same(*POOL)),
    ),
    "conv2d": (
        Variant("conv2d_direct.cu", CONV),
        Variant("conv2d_shared.cu", CONV),
        Variant("conv2d_params.cu", binds=same(*CONV)),
    ),
}
