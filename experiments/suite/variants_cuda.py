"""The CUDA sources of the suite. See ``experiments.suite.variant`` for the rules."""

from __future__ import annotations

from experiments.suite.variant import BMM, CONV, DEFORMABLE, DEPTHWISE, FLASH, GEMM, LAYERNORM, MHA, POOL, Data, Variant, same

ROWS = ("ROWS", "COLS")

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "gemm": (
        Variant("gemm_tiled.cu", GEMM),
        Variant("gemm_naive.cu", GEMM),
        Variant("gemm_register.cu", GEMM),
        Variant("gemm_params.cu", binds=same(*GEMM)),
        Variant("gemm_f16.cu", GEMM, data=Data.F16, multiple={"N": 2}),
        Variant("gemm_f16_wmma.cu", GEMM, data=Data.F16, multiple={"M": 16, "K": 16, "N": 16}),
        Variant("gemm_f16_wmma_shared.cu", GEMM, data=Data.F16, multiple={"M": 32, "K": 16, "N": 32}),
        Variant("gemm_u8s8.cu", GEMM, data=Data.U8S8),
        Variant("gemm_s8s8_dp4a.cu", GEMM, data=Data.S8S8, multiple={"K": 4}),
        Variant("gemm_s8s8_wmma.cu", GEMM, data=Data.S8S8, multiple={"M": 16, "K": 16, "N": 16}),
    ),
    "bmm": (
        Variant("bmm_tiled.cu", BMM),
        Variant("bmm_grid_stride.cu", BMM),
        Variant("bmm_naive.cu", BMM),
        Variant("bmm_f16_wmma.cu", BMM, data=Data.F16, multiple={"M": 16, "K": 16, "N": 16}),
        Variant("bmm_u8s8.cu", BMM, data=Data.U8S8),
        Variant("bmm_s8s8.cu", BMM, data=Data.S8S8),
    ),
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
        Variant("conv2d_u8s8.cu", CONV, data=Data.U8S8),
        Variant("conv2d_s8s8.cu", CONV, data=Data.S8S8),
    ),
    "gemv": (
        Variant("gemv_naive.cu", ("M", "K")),
        Variant("gemv_warp.cu", ("M", "K")),
        Variant("gemv_tree.cu", binds=same("M", "K")),
        Variant("gemv_float4.cu", ("M", "K")),
        Variant("gemv_u8s8.cu", ("M", "K"), data=Data.U8S8),
        Variant("gemv_s8s8.cu", ("M", "K"), data=Data.S8S8, multiple={"K": 4}),
    ),
    "conv1d": (
        Variant("conv1d_naive.cu", ("OUT",)),
        Variant("conv1d_constant.cu", ("OUT",)),
        Variant("conv1d_params.cu", binds=same("OUT")),
        Variant("conv1d_s8s8.cu", ("OUT",), data=Data.S8S8),
    ),
    "conv2dnchw": (
        Variant("conv2dnchw_direct.cu", CONV),
        Variant("conv2dnchw_shared.cu", CONV),
        Variant("conv2dnchw_params.cu", binds=same(*CONV)),
        Variant("conv2dnchw_u8s8.cu", CONV, data=Data.U8S8),
        Variant("conv2dnchw_s8s8.cu", CONV, data=Data.S8S8),
    ),
    "depthwiseconv": (
        Variant("depthwiseconv_naive.cu", DEPTHWISE),
        Variant("depthwiseconv_rows.cu", DEPTHWISE),
        Variant("depthwiseconv_tile.cu", DEPTHWISE),
        Variant("depthwiseconv_u8s8.cu", DEPTHWISE, data=Data.U8S8),
    ),
    "relu": (Variant("relu_naive.cu", ("N",)), Variant("relu_float4.cu", ("N",)), Variant("relu_grid_stride.cu", binds=same("N"))),
    "sigmoid": (Variant("sigmoid_naive.cu", ("N",)), Variant("sigmoid_float2.cu", ("N",)), Variant("sigmoid_stable.cu", binds=same("N"))),
    "sign": (Variant("sign_naive.cu", ("N",)), Variant("sign_compare.cu", ROWS), Variant("sign_copysign.cu", binds=same("N"))),
    "avgpool": (Variant("avgpool_naive.cu", POOL), Variant("avgpool_channels.cu", POOL), Variant("avgpool_params.cu", binds=same(*POOL))),
    "minpool": (Variant("minpool_naive.cu", POOL), Variant("minpool_template.cu", POOL), Variant("minpool_params.cu", binds=same(*POOL))),
    "sumpool": (Variant("sumpool_naive.cu", POOL), Variant("sumpool_float4.cu", POOL), Variant("sumpool_params.cu", binds=same(*POOL))),
    "deformable": (
        Variant("deformable_naive.cu", DEFORMABLE),
        Variant("deformable_block.cu", DEFORMABLE),
        Variant("deformable_float4.cu", DEFORMABLE, multiple={"DIM": 4}),
    ),
    "mha": (
        Variant("mha_naive.cu", MHA),
        Variant("mha_shared.cu", MHA),
        Variant("mha_warp.cu", MHA),
        Variant("mha_stages.cu", binds=same(*MHA)),
        Variant("mha_f16_wmma.cu", MHA, data=Data.F16, multiple={"DIM": 16}),
    ),
    "rmsnorm": (
        Variant("rmsnorm_naive.cu", ROWS),
        Variant("rmsnorm_block.cu", ROWS),
        Variant("rmsnorm_float4.cu", ROWS, multiple={"COLS": 4}),
        Variant("rmsnorm_tree.cu", binds=same("ROWS", "COLS")),
    ),
    "flash_attention": (
        Variant("flash_attention_1.cu", FLASH),
        Variant("flash_attention_2.cu", FLASH),
        Variant("flash_attention_2_f16_wmma.cu", FLASH, data=Data.F16, multiple={"SEQ": 16, "DIM": 16}),
    ),
}
