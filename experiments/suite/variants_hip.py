"""The HIP sources of the suite. See ``experiments.suite.variant`` for the rules."""

from __future__ import annotations

from experiments.suite.variant import BMM, CONV, DEFORMABLE, DEPTHWISE, FLASH, GEMM, LAYERNORM, MHA, POOL, Data, Variant, same

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "gemm": (
        Variant("gemm_naive.hip", GEMM),
        Variant("gemm_register.hip", binds=same(*GEMM)),
        Variant("gemm_tiled.hip", GEMM),
        Variant("gemm_u8s8.hip", GEMM, data=Data.U8S8),
    ),
    "bmm": (
        Variant("bmm_dynamic.hip", binds=same(*BMM)),
        Variant("bmm_naive.hip", BMM),
        Variant("bmm_u8s8.hip", BMM, data=Data.U8S8),
    ),
    "gemv": (
        Variant("gemv_naive.hip", ("M", "K")),
        Variant("gemv_tree.hip", binds=same("M", "K")),
        Variant("gemv_u8s8.hip", ("M", "K"), data=Data.U8S8),
        Variant("gemv_wavefront.hip", ("M", "K")),
    ),
    "conv1d": (
        Variant("conv1d_halo.hip", binds=same("OUT")),
        Variant("conv1d_naive.hip", ("OUT",)),
    ),
    "conv2d": (
        Variant("conv2d_direct.hip", CONV),
        Variant("conv2d_lds.hip", CONV),
        Variant("conv2d_params.hip", binds=same(*CONV)),
        Variant("conv2d_u8s8.hip", CONV, data=Data.U8S8),
    ),
    "conv2dnchw": (
        Variant("conv2dnchw_direct.hip", CONV),
        Variant("conv2dnchw_lds.hip", CONV),
        Variant("conv2dnchw_template.hip", binds=same(*CONV)),
        Variant("conv2dnchw_u8s8.hip", CONV, data=Data.U8S8),
    ),
    "depthwiseconv": (
        Variant("depthwiseconv_channels.hip", DEPTHWISE),
        Variant("depthwiseconv_grid_stride.hip", binds=same(*DEPTHWISE)),
        Variant("depthwiseconv_lds.hip", DEPTHWISE),
    ),
    "relu": (
        Variant("relu_float4.hip", ("N",)),
        Variant("relu_grid_stride.hip", binds=same("N")),
        Variant("relu_naive.hip", ("N",)),
    ),
    "sigmoid": (
        Variant("sigmoid_float2.hip", ("N",)),
        Variant("sigmoid_grid_stride.hip", binds=same("N")),
        Variant("sigmoid_naive.hip", ("N",)),
    ),
    "gelu": (
        Variant("gelu_float4.hip", ("N",)),
        Variant("gelu_naive.hip", ("N",)),
        Variant("gelu_params.hip", binds=same("N")),
    ),
    "sign": (
        Variant("sign_copysign.hip", ("N",)),
        Variant("sign_functor.hip", binds=same("N")),
        Variant("sign_naive.hip", ("N",)),
    ),
    "add": (
        Variant("add_float4.hip", ("N",)),
        Variant("add_matrix.hip", binds=same("ROWS", "COLS")),
        Variant("add_naive.hip", ("N",)),
    ),
    "softmax": (
        Variant("softmax_block.hip", binds=same("ROWS", "COLS")),
        Variant("softmax_naive.hip", ("ROWS", "COLS")),
        Variant("softmax_tree.hip", ("ROWS", "COLS")),
        Variant("softmax_wavefront.hip", ("ROWS", "COLS")),
    ),
    "maxpool": (
        Variant("maxpool_channels.hip", POOL),
        Variant("maxpool_naive.hip", POOL),
        Variant("maxpool_template.hip", binds=same(*POOL)),
    ),
    "avgpool": (
        Variant("avgpool_float4.hip", POOL, multiple={"CHANNELS": 4}),
        Variant("avgpool_naive.hip", POOL),
        Variant("avgpool_template.hip", binds=same(*POOL)),
    ),
    "minpool": (
        Variant("minpool_lds.hip", POOL),
        Variant("minpool_naive.hip", POOL),
        Variant("minpool_template.hip", binds=same(*POOL)),
    ),
    "sumpool": (
        Variant("sumpool_naive.hip", POOL),
        Variant("sumpool_template.hip", binds=same(*POOL)),
        Variant("sumpool_wavefront.hip", POOL),
    ),
    "layernorm": (
        Variant("layernorm_lds.hip", LAYERNORM),
        Variant("layernorm_naive.hip", LAYERNORM),
        Variant("layernorm_wavefront.hip", binds=same("ROWS", "DIM")),
    ),
    "rmsnorm": (
        Variant("rmsnorm_block.hip", ("ROWS", "COLS")),
        Variant("rmsnorm_float4.hip", binds=same("ROWS", "COLS")),
        Variant("rmsnorm_stages.hip", ("ROWS", "COLS")),
    ),
    "mha": (
        Variant("mha_lds.hip", MHA),
        Variant("mha_online.hip", MHA),
        Variant("mha_wavefront.hip", binds=same(*MHA)),
    ),
    "deformable": (
        Variant("deformable_block.hip", binds=same(*DEFORMABLE)),
        Variant("deformable_lds.hip", DEFORMABLE),
        Variant("deformable_naive.hip", DEFORMABLE),
    ),
    "flash_attention": (
        Variant("flash_attention_v1.hip", FLASH),
        Variant("flash_attention_v2.hip", FLASH),
    ),
}
