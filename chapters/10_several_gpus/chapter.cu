/// \file
/// Chapter 10: h = residual + the sum of x over all GPUs, y = rmsnorm(h); from stage 8 on, the sum of x where
/// x is a Linear's product. The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_one_shot.cuh"
#include "03_release.cuh"
#include "04_two_shot.cuh"
#include "05_mail.cuh"
#include "06_dependent.gpu.cuh"
#include "07_nccl.gpu.cuh"
#include "08_linear.gpu.cuh"
#include "09_tiles.sm90a.cuh"
#include "10_copies.sm90a.cuh"
#include "problem.cuh"

namespace DEVICE::several_gpus {
namespace {

constexpr auto& kStages = kLadder<Unfused, ByFence, Release, ReleaseFloat, TwoShot<BFloat16>, TwoShot<float>,
                                  ByMail, Dependent, Nccl, Linear, Tiles, Copies>;

const Shape kSweep[] = {{{2, 1, 8192}},   {{4, 16, 1024}},  {{8, 16, 1024}},   {{2, 32, 8192}},
                        {{2, 128, 8192}}, {{2, 512, 8192}}, {{2, 2048, 8192}}, {{2, 8192, 8192}}};

}  // namespace

Chapter chapter() {
  return {.name = "10_several_gpus",
          .formula = "h = residual + sum of x, y = rmsnorm(h)",
          .dims = "GxRxC",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {{4, 8, 8192}},
          .gpu_shape = {{2, 128, 8192}},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .gpus = gpus};
}

}  // namespace DEVICE::several_gpus
