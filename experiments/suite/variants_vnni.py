"""The C and AVX-512 sources of the suite. See ``experiments.suite.variant`` for the rules."""

from __future__ import annotations

from experiments.suite.variant import BMM, CONV, DEFORMABLE, DEPTHWISE, GEMM, LAYERNORM, MHA, POOL, Data, Variant, same

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "gemm": (
        Variant("gemm_avx512.c", GEMM, extents=("A", "B", "C")),
        Variant("gemm_blocked.c", binds=same(*GEMM)),
        Variant("gemm_naive.c", GEMM),
        Variant("gemm_s8s8.c", GEMM, data=Data.S8S8, extents=("A", "B", "C")),
        Variant("gemm_transposed.c", GEMM),
        Variant("gemm_u8s8.c", GEMM, data=Data.U8S8, extents=("A", "B", "C")),
        Variant("gemm_u8s8_naive.c", GEMM, data=Data.U8S8),
    ),
    "bmm": (
        Variant("bmm_avx512.cpp", binds=same(*BMM), extents=("A", "B", "C")),
        Variant("bmm_naive.c", BMM),
        Variant("bmm_openmp.c", BMM),
        Variant("bmm_u8s8.c", BMM, data=Data.U8S8, extents=("A", "B", "C")),
    ),
    "gemv": (
        Variant("gemv_avx512.c", binds=same("M", "K"), extents=("A", "x", "y")),
        Variant("gemv_naive.c", ("M", "K")),
        Variant("gemv_u8s8.c", ("M", "K"), data=Data.U8S8, extents=("A", "x", "y")),
        Variant("gemv_unrolled.c", ("M", "K")),
    ),
    "conv1d": (
        Variant("conv1d_avx512.c", binds=same("OUT"), extents=("x", "w", "y")),
        Variant("conv1d_naive.c", ("OUT",)),
        Variant("conv1d_sliding.c", ("OUT",)),
    ),
    "conv2d": (
        Variant("conv2d_avx512.c", CONV, extents=("A", "B", "C")),
        Variant("conv2d_im2col.c", binds=same(*CONV)),
        Variant("conv2d_naive.c", CONV),
        Variant("conv2d_u8s8.c", CONV, data=Data.U8S8, extents=("A", "B", "C")),
    ),
    "conv2dnchw": (
        Variant("conv2dnchw_avx512.c", CONV, extents=("A", "B", "C")),
        Variant("conv2dnchw_naive.c", CONV),
        Variant("conv2dnchw_planes.c", binds=same(*CONV)),
        Variant("conv2dnchw_u8s8.c", CONV, data=Data.U8S8),
    ),
    "depthwiseconv": (
        Variant("depthwiseconv_avx512.c", DEPTHWISE),
        Variant("depthwiseconv_naive.c", DEPTHWISE),
        Variant("depthwiseconv_rows.c", binds=same(*DEPTHWISE)),
    ),
    "relu": (
        Variant("relu_avx512.c", binds=same("N"), extents=("A", "C")),
        Variant("relu_naive.c", ("N",)),
        Variant("relu_pointer.c", ("N",)),
    ),
    "sigmoid": (
        Variant("sigmoid_avx512.c", ("N",), extents=("A", "C")),
        Variant("sigmoid_naive.c", ("N",)),
        Variant("sigmoid_stable.c", binds=same("N")),
    ),
    "gelu": (
        Variant("gelu_avx512.c", ("N",), extents=("A", "C")),
        Variant("gelu_naive.c", ("N",)),
        Variant("gelu_openmp.c", binds=same("N")),
    ),
    "sign": (
        Variant("sign_avx512.c", binds=same("N"), extents=("A", "C")),
        Variant("sign_branchless.c", ("N",)),
        Variant("sign_naive.c", ("N",)),
    ),
    "add": (
        Variant("add_avx512.c", ("N",)),
        Variant("add_naive.c", ("N",)),
        Variant("add_rows.c", binds=same("ROWS", "COLS")),
    ),
    "softmax": (
        Variant("softmax_avx512.c", ("ROWS", "COLS"), extents=("A", "C")),
        Variant("softmax_naive.c", ("ROWS", "COLS")),
        Variant("softmax_online.c", binds=same("ROWS", "COLS")),
        Variant("softmax_temporary.c", ("ROWS", "COLS")),
    ),
    "maxpool": (
        Variant("maxpool_avx512.c", POOL, extents=("A", "C")),
        Variant("maxpool_clipped.c", binds=same(*POOL)),
        Variant("maxpool_naive.c", POOL),
    ),
    "avgpool": (
        Variant("avgpool_avx512.c", POOL, extents=("A", "C")),
        Variant("avgpool_naive.c", POOL),
        Variant("avgpool_scatter.c", binds=same(*POOL)),
    ),
    "minpool": (
        Variant("minpool_avx512.cpp", binds=same(*POOL)),
        Variant("minpool_naive.c", POOL),
        Variant("minpool_separable.c", POOL),
    ),
    "sumpool": (
        Variant("sumpool_avx512.c", binds=same(*POOL), extents=("A", "C")),
        Variant("sumpool_naive.c", POOL),
        Variant("sumpool_openmp.c", POOL),
    ),
    "layernorm": (
        Variant("layernorm_avx512.c", binds=same("ROWS", "DIM"), extents=("A", "gamma", "beta", "C")),
        Variant("layernorm_moments.c", LAYERNORM),
        Variant("layernorm_naive.c", LAYERNORM),
    ),
    "rmsnorm": (
        Variant("rmsnorm_avx512.c", binds=same("ROWS", "COLS"), extents=("A", "C")),
        Variant("rmsnorm_naive.c", ("ROWS", "COLS")),
        Variant("rmsnorm_stages.c", ("ROWS", "COLS")),
    ),
    "mha": (
        Variant("mha_avx512.c", MHA, extents=("Q", "K", "V", "O")),
        Variant("mha_naive.c", MHA),
        Variant("mha_openmp.c", binds=same(*MHA)),
    ),
    "deformable": (
        Variant("deformable_avx512.c", DEFORMABLE, extents=("value", "output")),
        Variant("deformable_naive.c", DEFORMABLE, extents=("value",)),
        Variant("deformable_openmp.c", binds=same(*DEFORMABLE), extents=("value",)),
    ),
}
