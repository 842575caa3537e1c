"""Our stages that a contender is compared with, by what they compute and from which types.

Where several stages are named, the fastest that runs at a shape is compared. All names of stages are here.
"""

OURS = {
    "01_multiply_add": {"out": ("03_float4", "04_in_flight")},
    "02_add_mul_exp": {"out": ("04_float4", "06_in_flight")},
    "03_quantize_int8": {"q": ("04_wide", "05_corrected"), "q_rows": ("07_one_kernel", "08_one_read")},
    "04_relu_layernorm": {
        "squares": ("04_shuffles", "05_vectorised"),
        "columns": ("06_columns",),
        "float32": ("10_one_read", "10_long_rows", "11_warp_a_row", "12_clusters", "13_persistent"),
        "float16": ("14_float16",),
        "bfloat16": ("14_bfloat16",),
        "residual, float32": ("16_residual",),
        "residual, bfloat16": ("16_bfloat16",)},
    "05_linear_gelu": {"erf": ("10_epilogue",), "tanh": ("10_tanh",)},
    "06_tensor_cores": {"erf": ("09_ping_pong", "09_wide", "10_stream_k"),
                        "tanh": ("09_tanh", "09_wide_tanh", "10_tanh")},
    # Not those whose p is a multiple of 1/256, nor those with fewer rounds of Philox than the peers.
    "07_gelu_dropout": {
        "forward, float32": ("03_share_calls", "04_sixteen_bits", "06_fast_float"),
        "forward, bfloat16": ("06_bfloat16", "06_fast", "06_table"),
        "backward, float32": ("09_recomputed", "09_fast_float"),
        "backward, bfloat16": ("09_bfloat16", "09_fast", "09_table"),
        "block": ("11_residual",),
        "norm": ("12_rms_norm",)},
    "08_attention": {
        "weights, float32": ("02_one_kernel", "18_cluster"),
        "weights, bfloat16": ("13_weights",),
        "float32": ("07_flash", "08_exp2"),
        "causal, float32": ("09_causal",),
        "bfloat16": ("10_wmma", "12_mma", "16_three_groups", "17_persistent"),
        "causal, bfloat16": ("10_causal", "12_causal", "16_causal", "17_causal"),
        "decode": ("11_split",)},
}
