/// \file
/// Chapter 05: y = gelu(x * w^T + b) in float32, PyTorch's Linear and what follows it.
/// The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_coalesced.cuh"
#include "03_fused_naive.cuh"
#include "04_tiles.cuh"
#include "05_column.cuh"
#include "06_square.cuh"
#include "07_vectorised.cuh"
#include "08_pipelined.cuh"
#include "09_then_finish.cuh"
#include "09_warp_tiles.cuh"
#include "10_epilogue.cuh"
#include "12_late_gelu.cuh"
#include "problem.cuh"
#ifdef WORKBOOK_HAS_CUBLAS
#include "11_cublas.gpu.cuh"
#endif

namespace DEVICE::linear_gelu {
namespace {

/// Fills the fields that a row leaves out with those of a stage that computes the product alone.
constexpr Stage with_defaults(Stage stage) {
  if (!stage.output) stage.output = "product";
  if (!stage.roundings) stage.roundings = product_roundings;
  stage.exact_roundings = exact_roundings;
  if (!stage.flops) stage.flops = product_flops;
  if (!stage.needs) stage.needs = "at most 2^38 multiplications: it is slow";
  return stage;
}

/// A stage that computes `y`, with bias and GELU.
constexpr Stage to_y(Stage stage) {
  if (!stage.output) stage.output = "y";
  stage.roundings = linear_roundings;
  return with_defaults(stage);
}

/// A stage of cuBLAS.
constexpr Stage from_cublas(Stage stage) {
  stage.kernels = workbook::kAnyNumber;
  stage.needs = "a GPU and cuBLAS; at most 2^38 multiplications";
  return with_defaults(stage);
}

/// A stage that computes `z`, with a second product.
constexpr Stage to_z(Stage stage) {
  stage.output = "z";
  stage.kernels = 2;
  stage.roundings = two_products_roundings;
  stage.exact_roundings = exact_z_roundings;
  stage.flops = two_products_flops;
  stage.needs = "at most 2^36 multiplications: checking takes long";
  stage.against = "12_early_gelu";
  return stage;
}

const Stage kStages[] = {
    to_y(stage<Unfused>({.name = "01_unfused",
                         .idea = "three kernels; the product's lanes are in different rows",
                         .kernels = 3,
                         .needs = "at most 2^34 multiplications: it is slow"})),
    to_y(stage<Coalesced>(
        {.name = "02_coalesced", .idea = "lanes along k: one warp per element", .kernels = 3})),
    to_y(stage<FusedNaive>({.name = "03_fused_naive", .idea = "bias and GELU in the same kernel"})),
    with_defaults(
        stage<Tiles>({.name = "04_tiles", .idea = "the product alone: tiles of 32 x 32 in shared memory"})),
    with_defaults(
        stage<Column>({.name = "05_column", .idea = "eight elements per thread, one below the other"})),
    with_defaults(stage<Square>({.name = "06_square", .idea = "8 x 8 elements per thread"})),
    with_defaults(
        stage<Vectorised>({.name = "07_vectorised", .idea = "loads of 16 bytes, tiles transposed"})),
    with_defaults(stage<Pipelined>(
        {.name = "08_pipelined", .idea = "the next tile is copied while this one is multiplied"})),
    with_defaults(stage<WarpTiles>(
        {.name = "09_warp_tiles", .idea = "a warp's threads close together, all loads ahead"})),
    to_y(stage<ThenFinish>(
        {.name = "09_then_finish", .idea = "the same, then bias and GELU in one pass", .kernels = 2})),
    to_y(stage<InEpilogue>({.name = "10_epilogue", .idea = "bias and GELU in the epilogue: one kernel"})),
    to_y(stage<InEpilogueTanh>({.name = "10_tanh",
                                .idea = "the same with the tanh form of GELU",
                                .output = "y_tanh",
                                .against = "10_tanh"})),
    from_cublas(library<struct Sgemm>({.name = "11_sgemm", .idea = "library: cuBLAS, the product alone"})),
    from_cublas(to_y(library<struct Cublas>(
        {.name = "11_cublas", .idea = "library: cuBLAS, then bias and GELU in one pass"}))),
    from_cublas(
        to_y(library<struct CublasLt>({.name = "11_cublaslt",
                                       .idea = "library: cuBLASLt with bias and GELU, tanh, as its epilogue",
                                       .output = "y_tanh",
                                       .against = "10_tanh"}))),
    to_z(stage<EarlyGelu>({.name = "12_early_gelu", .idea = "two products: GELU where the first is stored"})),
    to_z(stage<LateGelu>(
        {.name = "12_late_gelu", .idea = "two products: GELU where the second one loads it"})),
};

/// The same m and n with growing k: the epilogue saves the same, and the product costs more.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}}};

}  // namespace

Chapter chapter() {
  return {.name = "05_linear_gelu",
          .formula = "y = gelu(x * w^T + b)",
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
          .has_exact_inputs = has_exact_inputs,
          .units = y_elements};
}

}  // namespace DEVICE::linear_gelu
