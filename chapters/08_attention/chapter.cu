/// \file
/// Chapter 08: o = softmax(q * k^T / sqrt(d)) * v. The ladder: one row per stage; compiled once for each
/// device.
#include "01_unfused.cuh"
#include "02_one_kernel.cuh"
#include "04_three_kernels.cuh"
#include "05_two_kernels.cuh"
#include "06_online.cuh"
#include "07_flash.cuh"
#include "08_exp2.cuh"
#include "09_causal.cuh"
#include "10_wmma.cuh"
#include "11_paged.cuh"
#include "11_split.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "12_mma.gpu.cuh"
#include "13_weights.gpu.cuh"
#include "14_wgmma.sm90a.cuh"
#include "15_overlap.sm90a.cuh"
#include "16_three_groups.sm90a.cuh"
#include "17_persistent.sm90a.cuh"
#include "18_cluster.gpu.cuh"
#endif

namespace DEVICE::attention {
namespace {

/// A stage in float32.
constexpr Stage in_float32(Stage stage) {
  stage.roundings = float_roundings;
  if (!stage.exact_roundings) stage.exact_roundings = exact_roundings;
  return stage;
}

/// A stage that computes the weights alone.
template <class Mask>
constexpr Stage weights(Stage stage) {
  stage.output = Mask::kCausal ? "p_causal" : "p";
  stage.flops = score_flops<Mask>;
  return in_float32(stage);
}

template <class Mask>
constexpr Stage whole(Stage stage) {
  if (!stage.output) stage.output = Mask::kCausal ? "o_causal" : "o";
  stage.flops = attention_flops<Mask>;
  if (!stage.against) stage.against = "04_three_kernels";
  if (!stage.needs) stage.needs = "d of at most 128";
  return in_float32(stage);
}

/// A stage in bfloat16 with float32 sums.
template <class Mask>
constexpr Stage in_bfloat16(Stage stage) {
  stage.output = Mask::kCausal ? "o_causal_bfloat16" : "o_bfloat16";
  stage = whole<Mask>(stage);
  stage.roundings = tensor_roundings;
  return stage;
}

/// A stage in bfloat16 whose keys and values are in pages.
constexpr Stage paged(Stage stage) {
  stage = in_bfloat16<Full>(stage);
  stage.output = "o_paged";
  return stage;
}

/// A stage that computes the weights alone, in bfloat16 with float32 sums.
constexpr Stage half_weights(Stage stage) {
  stage.output = "p_bfloat16";
  stage.flops = score_flops<Full>;
  stage = in_float32(stage);
  stage.roundings = tensor_roundings;
  return stage;
}

/// A stage in bfloat16 that needs the instructions of compute capability 8.0.
constexpr Stage by_mma(Stage stage) {
  stage.capability = 80;
  return stage;
}

/// A stage in bfloat16 for an H100 or H200.
template <class Mask>
constexpr Stage on_hopper(Stage stage) {
  stage.needs = "sm_90a: an H100 or H200; d of at most 128, of eights";
  stage.capability = 90;
  stage.no_other_capability = true;
  return in_bfloat16<Mask>(stage);
}

const Stage kStages[] = {
    weights<Full>(stage<Unfused>({.name = "01_unfused",
                                  .idea = "weights: product, scale and softmax, three kernels",
                                  .kernels = 3,
                                  .needs = "d of at most 128; at most 2^28 scores"})),
    weights<Full>(stage<OneKernel<Full>>({.name = "02_one_kernel",
                                          .idea = "weights: a row's scores stay in registers",
                                          .needs = "at most 1024 keys and 2^28 scores"})),
    weights<Causal>(stage<OneKernel<Causal>>({.name = "03_mask",
                                              .idea = "weights: the causal mask fused as well",
                                              .needs = "at most 1024 keys and 2^28 scores"})),
    whole<Full>(stage<ThreeKernels>({.name = "04_three_kernels",
                                     .idea = "attention: product, softmax, product",
                                     .kernels = 3,
                                     .exact_roundings = exact_sum_roundings,
                                     .needs = "d of at most 128; at most 2^30 scores"})),
    whole<Full>(stage<TwoKernels>({.name = "05_two_kernels",
                                   .idea = "softmax fused into the second product",
                                   .kernels = 2,
                                   .needs = "d of at most 128; at most 2^30 scores"})),
    whole<Full>(stage<Online>({.name = "06_online",
                               .idea = "online softmax: the scores are read once",
                               .kernels = 2,
                               .needs = "d of at most 128; at most 2^30 scores"})),
    whole<Full>(stage<Flash>({.name = "07_flash", .idea = "flash attention: no matrix of scores at all"})),
    whole<Full>(stage<Exp2>({.name = "08_exp2", .idea = "exponents of two, and rescaling when needed"})),
    whole<Causal>(stage<Masked>({.name = "09_masked", .idea = "with a causal mask, all tiles computed"})),
    whole<Causal>(stage<SkippedTiles>({.name = "09_causal",
                                       .idea = "tiles above the diagonal skipped, longest first",
                                       .against = "09_masked"})),
    in_bfloat16<Full>(
        stage<Wmma<Full>>({.name = "10_wmma", .idea = "bfloat16 on the tensor cores, by wmma"})),
    in_bfloat16<Causal>(stage<Wmma<Causal>>(
        {.name = "10_causal", .idea = "the same with a causal mask", .against = "09_masked"})),
    in_bfloat16<Full>(stage<Split>({.name = "11_split",
                                    .idea = "split over the keys, for few queries and many keys",
                                    .kernels = 2,
                                    .needs = "at most 16 queries; d of at most 128"})),
    paged(stage<Paged>({.name = "11_paged",
                        .idea = "the same with keys and values in pages of 64",
                        .kernels = 2,
                        .needs = "at most 16 queries; d of at most 128; pages of 64 keys"})),
    by_mma(in_bfloat16<Full>(
        gpu_only<struct Mma>({.name = "12_mma",
                              .idea = "bfloat16 by mma.sync: the weights stay in registers",
                              .needs = "a GPU of compute capability 8.0; d of at most 128"}))),
    by_mma(in_bfloat16<Causal>(
        gpu_only<struct MmaCausal>({.name = "12_causal",
                                    .idea = "the same with a causal mask",
                                    .needs = "a GPU of compute capability 8.0; d of at most 128",
                                    .against = "09_masked"}))),
    by_mma(half_weights(
        gpu_only<struct MmaWeights>({.name = "13_weights",
                                     .idea = "the weights alone in bfloat16, the keys stay in shared memory",
                                     .needs = "a GPU; at most 1024 keys and 2^28 scores, d <= 64"}))),
    on_hopper<Full>(gpu_only<struct Wgmma>(
        {.name = "14_wgmma", .idea = "wgmma and TMA: scores, softmax, values in turn"})),
    on_hopper<Full>(gpu_only<struct Overlap>(
        {.name = "15_overlap", .idea = "a softmax beside the product of the weights before and v"})),
    on_hopper<Full>(gpu_only<struct Groups>(
        {.name = "16_three_groups", .idea = "more warpgroups, with 64 keys at a time"})),
    on_hopper<Causal>(gpu_only<struct GroupsCausal>(
        {.name = "16_causal", .idea = "the same with a causal mask", .against = "09_masked"})),
    on_hopper<Full>(gpu_only<struct Persistent>(
        {.name = "17_persistent", .idea = "persistent: the next queries load early, for short rows"})),
    on_hopper<Causal>(gpu_only<struct PersistentCausal>(
        {.name = "17_causal", .idea = "the same with a causal mask", .against = "09_masked"})),
    weights<Full>(
        gpu_only<struct Cluster>({.name = "18_cluster",
                                  .idea = "the weights in float32: a cluster of blocks shares the rows",
                                  .needs = "compute capability 9.0, d <= 64, at most 1024 keys",
                                  .capability = 90})),
};

const Shape kSweep[] = {{{4, 4, 256, 256, 64}},       {{128, 128, 1024, 1024, 64}},
                        {{128, 128, 4096, 4096, 64}}, {{64, 64, 4096, 4096, 128}},
                        {{32, 32, 1, 131072, 128}},   {{16, 16, 16384, 16384, 128}}};

}  // namespace

Chapter chapter() {
  return {.name = "08_attention",
          .formula = "o = softmax(q * k^T / sqrt(d)) * v",
          .dims = "HxGxQxKxD",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {{1, 1, 256, 256, 64}},
          .gpu_shape = {{128, 128, 1024, 1024, 64}},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .unit = "score",
          .units = all_scores};
}

}  // namespace DEVICE::attention
