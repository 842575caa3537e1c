"""Our stages that a contender is compared with, by what they compute and from which types.

Where several stages are named, the fastest that runs at a shape is compared. All names of stages are here.
"""

OURS = {
    "01_multiply_add": {"out": ("3_float4", "4_in_flight")},
    "02_add_mul_exp": {"out": ("4_float4", "6_in_flight")},
    "03_quantize_int8": {"q": ("4_wide", "5_corrected"), "q_rows": ("7_one_kernel", "8_one_read")},
    "04_relu_layernorm": {
        "squares": ("4_shuffles", "5_vectorised"),
        "columns": ("6_columns",),
        "float32": ("10_one_read", "10_long_rows", "11_warp_a_row", "12_clusters", "13_persistent"),
        "float16": ("14_float16",),
        "bfloat16": ("14_bfloat16",),
        "residual, float32": ("16_residual",),
        "residual, bfloat16": ("16_bfloat16",)},
    "05_linear_gelu": {"erf": ("10_epilogue",), "tanh": ("10_tanh",)},
    "06_tensor_cores": {"erf": ("9_ping_pong", "9_wide", "10_stream_k"),
                        "tanh": ("9_tanh", "9_wide_tanh", "10_tanh")},
    # Not those whose p is a multiple of 1/256, nor those with fewer rounds of Philox than the peers.
    "07_gelu_dropout": {
        "forward, float32": ("3_share_calls", "4_sixteen_bits", "6_fast_float"),
        "forward, bfloat16": ("6_bfloat16", "6_fast", "6_table"),
        "backward, float32": ("9_recomputed", "9_fast_float"),
        "backward, bfloat16": ("9_bfloat16", "9_fast", "9_table"),
        "block": ("11_residual",),
        "norm": ("12_rms_norm",)},
    "08_attention": {
        "weights, float32": ("2_one_kernel", "18_cluster"),
        "weights, bfloat16": ("13_weights",),
        "float32": ("7_flash", "8_exp2"),
        "causal, float32": ("9_causal",),
        "bfloat16": ("10_wmma", "12_mma", "16_three_groups", "17_persistent"),
        "causal, bfloat16": ("10_causal", "12_causal", "16_causal", "17_causal"),
        "decode": ("11_split",)},
}
