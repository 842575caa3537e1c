/// \file
/// Chapter 07: y = dropout(gelu(x)), forward and backward.
/// The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_share_calls.cuh"
#include "04_sixteen_bits.cuh"
#include "05_eight_bits.cuh"
#include "06_half.cuh"
#include "06_table.cuh"
#include "07_byte_mask.cuh"
#include "08_bit_mask.cuh"
#include "09_recomputed.cuh"
#include "09_table.cuh"
#include "10_row_sum.cuh"
#include "11_residual.cuh"
#include "12_rms_norm.cuh"
#include "13_graph.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "06_fast.gpu.cuh"
#endif
#if defined(__CUDACC__) && __has_include(<curand_kernel.h>)
#include "14_curand.gpu.cuh"
#endif

namespace DEVICE::gelu_dropout {
namespace {

/// A stage of the forward pass.
constexpr Stage forward_stage(Stage stage) {
  stage.roundings = gelu_roundings;
  return stage;
}

/// A stage of the backward pass.
constexpr Stage backward_stage(Stage stage) {
  stage.roundings = gelu_roundings;
  stage.against = "07_byte_mask";
  return stage;
}

/// A stage with other operations around dropout: its speed-up over another stage would say nothing.
constexpr Stage compared_with_itself(Stage stage) {
  stage.against = stage.name;
  return stage;
}

const Stage kStages[] = {
    forward_stage(stage<Unfused>({.name = "01_unfused",
                                  .idea = "random numbers, GELU, and multiply: three kernels",
                                  .output = "y_one",
                                  .kernels = 3})),
    forward_stage(stage<Fused>(
        {.name = "02_fused", .idea = "one kernel, one Philox call per element", .output = "y_one"})),
    forward_stage(stage<ShareCalls>(
        {.name = "03_share_calls", .idea = "one call for four elements", .output = "y_four"})),
    forward_stage(stage<SixteenBits<Erf>>(
        {.name = "04_sixteen_bits", .idea = "16 bits are enough: one call for eight", .output = "y"})),
    forward_stage(stage<SixteenBits<Tanh>>(
        {.name = "04_tanh", .idea = "the same with the tanh form of GELU", .output = "y_tanh"})),
    forward_stage(stage<EightBits>({.name = "05_eight_bits",
                                    .idea = "one call for sixteen; p is a multiple of 1/256",
                                    .output = "y_sixteen"})),
    forward_stage(stage<Float16>(
        {.name = "06_float16", .idea = "half the bytes: float16 in and out", .output = "y_float16"})),
    forward_stage(stage<BFloat16<Erf>>(
        {.name = "06_bfloat16", .idea = "half the bytes: bfloat16 in and out", .output = "y_bfloat16"})),
    forward_stage(stage<BFloat16<Tanh>>(
        {.name = "06_tanh", .idea = "bfloat16 and the tanh form", .output = "y_tanh_bfloat16"})),
    forward_stage(gpu_only<struct Fast>({.name = "06_fast",
                                         .idea = "bfloat16, and a GELU of fewer instructions",
                                         .output = "y_bfloat16",
                                         .needs = "a GPU"})),
    forward_stage(gpu_only<struct FastFloat>(
        {.name = "06_fast_float", .idea = "float32, with the same GELU", .output = "y", .needs = "a GPU"})),
    forward_stage(stage<ByTable<10>>(
        {.name = "06_table", .idea = "bfloat16, and GELU by a table", .output = "y_bfloat16", .kernels = 2})),
    forward_stage(stage<ByTable<7>>({.name = "06_seven_rounds",
                                     .idea = "by a table, and Philox with seven rounds",
                                     .output = "y_seven_rounds",
                                     .kernels = 2})),
    forward_stage(stage<SaveBytes>(
        {.name = "07_save_bytes", .idea = "forward, and the mask saved as bytes", .output = "y mask_bytes"})),
    backward_stage(stage<FromBytes>(
        {.name = "07_byte_mask", .idea = "backward, with the mask's bytes", .output = "dx_by_bytes"})),
    forward_stage(stage<SaveBits>({.name = "08_save_bits",
                                   .idea = "forward, and the mask saved as bits: the lanes vote",
                                   .output = "y mask_bits"})),
    backward_stage(stage<FromBits>(
        {.name = "08_bit_mask", .idea = "backward, with the mask's bits", .output = "dx_by_bits"})),
    backward_stage(stage<Recomputed<Erf>>({.name = "09_recomputed",
                                           .idea = "backward: the mask is drawn again, nothing is saved",
                                           .output = "dx"})),
    backward_stage(stage<Recomputed<Tanh>>(
        {.name = "09_tanh", .idea = "the same with the tanh form of GELU", .output = "dx_tanh"})),
    backward_stage(stage<RecomputedBFloat16>(
        {.name = "09_bfloat16", .idea = "backward in half the bytes", .output = "dx_bfloat16"})),
    backward_stage(gpu_only<struct FastBackward>({.name = "09_fast",
                                                  .idea = "bfloat16, and a derivative of fewer instructions",
                                                  .output = "dx_bfloat16",
                                                  .needs = "a GPU"})),
    backward_stage(gpu_only<struct FastBackwardFloat>({.name = "09_fast_float",
                                                       .idea = "float32, with the same derivative",
                                                       .output = "dx",
                                                       .needs = "a GPU"})),
    backward_stage(stage<BackwardByTable>({.name = "09_table",
                                           .idea = "bfloat16, and the derivative by a table",
                                           .output = "dx_bfloat16",
                                           .kernels = 2})),
    compared_with_itself(stage<RowSum>({.name = "10_row_sum",
                                        .idea = "dropout as the prologue of a sum over each row",
                                        .output = "sums",
                                        .roundings = row_roundings,
                                        .exact_roundings = exact_sum_roundings})),
    compared_with_itself(stage<Residual>({.name = "11_residual",
                                          .idea = "residual + dropout(gelu(x + bias)), in bfloat16",
                                          .output = "block",
                                          .roundings = gelu_roundings})),
    compared_with_itself(stage<RmsNorm>({.name = "12_rms_norm",
                                         .idea = "residual + dropout(x), and RMSNorm of it",
                                         .output = "h norm",
                                         .roundings = row_roundings,
                                         .exact_roundings = exact_norm_roundings,
                                         .needs = "rows of at most 8192 columns"})),
    forward_stage(stage<Graph>({.name = "13_graph",
                                .idea = "the offset comes from memory, so a graph draws new numbers",
                                .output = "y"})),
    forward_stage(library<struct Curand>({.name = "14_curand",
                                          .idea = "library: cuRAND's Philox in stage 3",
                                          .output = "y_four",
                                          .needs = "a GPU and curand_kernel.h"})),
};

const Shape kSweep[] = {
    {1024, 1024, 1}, {4096, 1024, 1}, {16384, 1024, 1}, {65536, 1024, 1}, {16384, 8192, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "07_gelu_dropout",
          .formula = "y = dropout(gelu(x), p)",
          .dims = "RxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {512, 1024, 1},
          .gpu_shape = {65536, 1024, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .has_dropout = true};
}

}  // namespace DEVICE::gelu_dropout
