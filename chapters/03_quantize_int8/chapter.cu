/// \file
/// Chapter 03: q = clamp(round(x / scale + zero_point)) to int8, with one scale for all elements and with one
/// per row. The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_packed.cuh"
#include "04_wide.cuh"
#include "05_corrected.cuh"
#include "06_two_kernels.cuh"
#include "07_one_kernel.cuh"
#include "08_one_read.cuh"
#include "09_cub.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::quantize_int8 {
namespace {

constexpr auto& kStages =
    kLadder<Unfused, Fused, Packed, Wide, Corrected, TwoKernels, OneKernel, OneRead, Cub>;

const Shape kSweep[] = {{1, 500'000, 1},    {1, 1'000'000, 1}, {1, 5'000'000, 1}, {1, 10'000'000, 1},
                        {1, 50'000'000, 1}, {1, 1 << 28, 1},   {4096, 1024, 1},   {65536, 1024, 1},
                        {32768, 4096, 1},   {4096, 32768, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "03_quantize_int8",
          .formula = "q = clamp(round(x/scale + zero_point))",
          .dims = "RxC",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {256, 4096, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill};
}

}  // namespace DEVICE::quantize_int8
