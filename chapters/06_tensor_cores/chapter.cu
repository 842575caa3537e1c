/// \file
/// Chapter 06: y = gelu(x * w^T + b) on tensor cores, in bfloat16, from wmma to wgmma and the TMA.
/// The ladder: one row per stage; compiled once for each device.
#include "01_tf32.cuh"
#include "01_then_finish.cuh"
#include "01_wmma.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "02_mma.gpu.cuh"
#include "03_wgmma.sm90a.cuh"
#include "04_producer.sm90a.cuh"
#include "05_two_groups.sm90a.cuh"
#include "06_persistent.sm90a.cuh"
#include "07_multicast.sm90a.cuh"
#include "08_tma_epilogue.sm90a.cuh"
#include "09_ping_pong.sm90a.cuh"
#include "09_wide.sm90a.cuh"
#include "10_stream_k.sm90a.cuh"
#endif
#ifdef WORKBOOK_HAS_CUBLAS
#include "11_cublas.gpu.cuh"
#endif

namespace DEVICE::tensor_cores {
namespace {

/// Fills the fields that a row leaves out with those of a stage that computes y, for compute capability 8.0.
constexpr Stage with_defaults(Stage stage) {
  if (!stage.output) stage.output = "y_bfloat16";
  if (!stage.roundings) stage.roundings = tensor_roundings;
  if (!stage.exact_roundings) stage.exact_roundings = exact_roundings;
  if (!stage.needs) stage.needs = "a GPU of compute capability 8.0";
  if (stage.capability == 0) stage.capability = 80;
  stage.flops = product_flops;
  return stage;
}

/// A stage for an H100 or H200.
constexpr Stage on_hopper(Stage stage) {
  stage.needs = "sm_90a: an H100 or H200; k and n multiples of 8";
  stage.capability = 90;
  stage.no_other_capability = true;
  return with_defaults(stage);
}

/// A stage of cuBLAS, which may round partial sums to bfloat16 where it divides k among blocks (cuBLAS
/// documentation, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION): so at 129x1000x2 on an H200. It is not
/// run on exact inputs, which show every such rounding.
constexpr Stage from_cublas(Stage stage) {
  stage.kernels = workbook::kAnyNumber;
  if (!stage.roundings) stage.roundings = tensor_roundings_twice;
  if (!stage.needs) stage.needs = "a GPU and cuBLAS";
  stage = with_defaults(stage);
  stage.exact_roundings = nullptr;
  return stage;
}

const Stage kStages[] = {
    with_defaults(stage<Wmma>(
        {.name = "01_wmma", .idea = "tensor cores: bfloat16, float32 accumulators, bias and GELU"})),
    with_defaults(stage<WmmaTanh>({.name = "01_tanh",
                                   .idea = "the same with the tanh form of GELU",
                                   .output = "y_bfloat16_tanh",
                                   .against = "01_tanh"})),
    with_defaults(stage<ThenFinish>({.name = "01_then_finish",
                                     .idea = "the same unfused: bias and GELU in one pass",
                                     .kernels = 2,
                                     .roundings = tensor_roundings_twice,
                                     .exact_roundings = exact_roundings_twice})),
    with_defaults(stage<Tf32>({.name = "01_tf32",
                               .idea = "float32 in memory, TF32 in the tensor cores",
                               .output = "y_tf32",
                               .needs = "compute capability 8.0; at most 2^38 multiplications"})),
    with_defaults(gpu_only<struct Mma>({.name = "02_mma",
                                        .idea = "the product alone: mma.sync, ldmatrix, a swizzled tile",
                                        .output = "product_bfloat16",
                                        .needs = "a GPU of compute capability 8.0; k and n multiples of 8"})),
    on_hopper(gpu_only<struct Wgmma>(
        {.name = "03_wgmma", .idea = "wgmma on tiles that the TMA copies", .output = "product_bfloat16"})),
    on_hopper(gpu_only<struct Producer>({.name = "04_producer",
                                         .idea = "a producer warp copies, a consumer warpgroup multiplies",
                                         .output = "product_bfloat16"})),
    on_hopper(gpu_only<struct TwoGroups>({.name = "05_two_groups",
                                          .idea = "tiles of 128 x 256, two consumer warpgroups",
                                          .output = "product_bfloat16"})),
    on_hopper(gpu_only<struct Persistent>({.name = "06_persistent",
                                           .idea = "persistent: one block per multiprocessor",
                                           .output = "product_bfloat16"})),
    on_hopper(gpu_only<struct Multicast>({.name = "07_multicast",
                                          .idea = "two blocks share their copies of w",
                                          .output = "product_bfloat16"})),
    on_hopper(gpu_only<struct TmaEpilogue>(
        {.name = "08_tma_epilogue", .idea = "bias and GELU in the epilogue, stored by the TMA"})),
    on_hopper(gpu_only<struct TmaEpilogueTanh>({.name = "08_tanh",
                                                .idea = "the same with the tanh form of GELU",
                                                .output = "y_bfloat16_tanh",
                                                .against = "01_tanh"})),
    on_hopper(gpu_only<struct PingPong>(
        {.name = "09_ping_pong", .idea = "one warpgroup multiplies, the other computes GELU"})),
    on_hopper(gpu_only<struct PingPongTanh>({.name = "09_tanh",
                                             .idea = "the same with the tanh form of GELU",
                                             .output = "y_bfloat16_tanh",
                                             .against = "01_tanh"})),
    on_hopper(gpu_only<struct Wide>(
        {.name = "09_wide",
         .idea = "tiles of 128 x 192: registers move to the consumers, clusters share w"})),
    on_hopper(gpu_only<struct WideTanh>({.name = "09_wide_tanh",
                                         .idea = "the same with the tanh form of GELU",
                                         .output = "y_bfloat16_tanh",
                                         .against = "01_tanh"})),
    on_hopper(gpu_only<struct StreamK>(
        {.name = "10_stream_k", .idea = "the last wave's steps are divided evenly"})),
    on_hopper(gpu_only<struct StreamKTanh>({.name = "10_tanh",
                                            .idea = "the same with the tanh form of GELU",
                                            .output = "y_bfloat16_tanh",
                                            .against = "01_tanh"})),
    from_cublas(library<struct Gemm>({.name = "11_gemm",
                                      .idea = "library: cuBLAS in bfloat16, the product alone",
                                      .output = "product_bfloat16"})),
    from_cublas(
        library<struct Cublas>({.name = "11_cublas", .idea = "library: cuBLAS in bfloat16, then one pass"})),
    from_cublas(library<struct CublasLt>({.name = "11_cublaslt",
                                          .idea = "library: cuBLASLt in bfloat16 with bias and GELU, tanh",
                                          .output = "y_bfloat16_tanh",
                                          .roundings = tensor_roundings,
                                          .needs = "a GPU and cuBLAS; k and n multiples of 8",
                                          .against = "01_tanh"})),
};

/// The same m and n with growing k: the epilogue saves the same, and the product costs more. The last two are
/// large enough for the fastest stages.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}},  {{8192, 8192, 8192}},
                        {{8192, 4096, 16384}}};

}  // namespace

Chapter chapter() {
  return {.name = "06_tensor_cores",
          .formula = "y = gelu(x * w^T + b) in bfloat16",
          .dims = "MxKxN",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {256, 64, 256},
          .gpu_shape = {4096, 1024, 4096},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::tensor_cores
