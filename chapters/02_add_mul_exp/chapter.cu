/// \file
/// Chapter 02: out = exp((x + y) * 2), from three kernels to one, in fewer bytes and in fewer launches.
/// The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_fast_exp.cuh"
#include "04_float4.cuh"
#include "05_chain.cuh"
#include "06_in_flight.cuh"
#include "07_half.cuh"
#include "08_dependent.gpu.cuh"
#include "08_many.cuh"
#include "09_sum.cuh"
#include "10_cub.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::add_mul_exp {
namespace {

constexpr auto& kStages = kLadder<Unfused, Fused, FastExp, FoldedExp2, Float4, FromChain, InFlight,
                                  InHalves<__half>, InHalves<__nv_bfloat16>, Many, Dependent, Sum, Cub>;

const Shape kSweep[] = {{1 << 10, 1, 1},    {1 << 12, 1, 1},   {1 << 14, 1, 1}, {100'000, 1, 1},
                        {300'000, 1, 1},    {1'000'000, 1, 1}, {1 << 20, 1, 1}, {5'000'000, 1, 1},
                        {20'000'000, 1, 1}, {1 << 26, 1, 1},   {1 << 28, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "02_add_mul_exp",
          .formula = "out = exp((x+y)*2)",
          .dims = "N",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 26, 1, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::add_mul_exp
