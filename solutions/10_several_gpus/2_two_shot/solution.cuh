/// \file
/// Exercise 10.2, two_shot: normalise a part of the rows, and store y on all GPUs.
///
/// In the one-shot kernel each GPU reads all of x from all others, and all of them compute the same
/// norms. Here GPU `me` has the rows me, me + gpus, me + 2 * gpus and so on: it adds up these over all
/// GPUs, normalises them, and stores their y in the memory of every GPU, its own included. In the end
/// all rows of y are on all GPUs. The result is that of exercise 10.1:
///
///     h = residual + the sum of x over all GPUs
///     y = h / sqrt(mean of h * h over the row + kEpsilon) * weight
///
/// In the skeleton each GPU does the first rows, and stores their y for itself alone. Before the kernel,
/// each GPU runs one that writes its x; after it, one that reads its y and overwrites its x.
///
/// Goal: with N GPUs, (N - 1) / N floats per element are read over NVLink, x, and (N - 1) / N written, y. In
/// all, 1 + 3 / N floats are read and 1 + 1 / N written.
#pragma once
#include "device.hpp"
#include "meet.hpp"
#include "sums.hpp"

namespace DEVICE::two_shot_norm {

constexpr float kEpsilon = 1e-5f;

/// It is launched on each GPU with rows / gpus blocks of 256 threads, rounded up: so the last block of some
/// GPUs has no row. h is memory of this GPU for all rows; nothing else reads it.
__global__ void two_shot(const __grid_constant__ OnGpus<const float> x, const float* __restrict__ residual,
                         const float* __restrict__ weight, float* __restrict__ h,
                         const __grid_constant__ OnGpus<float> y,
                         const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me, int rows,
                         int columns) {
  meet(flags, gpus, me);  // x is there on all GPUs
  // BEGIN SOLUTION
  const int row = blockIdx.x * gpus + me;
  // SKELETON
  // // TODO: each GPU does the first rows, and stores their y for itself alone.
  // const int row = blockIdx.x;
  // END SOLUTION
  if (row < rows) {
    const size_t first = static_cast<size_t>(row) * columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
      float sum = residual[first + c];
      for (int gpu = 0; gpu < gpus; ++gpu) sum += x.of[gpu][first + c];
      h[first + c] = sum;
      squares += sum * sum;
    }
    const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + kEpsilon);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
      const float normalised = h[first + c] * inverse * weight[c];
      // BEGIN SOLUTION
      for (int gpu = 0; gpu < gpus; ++gpu) y.of[gpu][first + c] = normalised;
      // SKELETON
      // y.of[me][first + c] = normalised;
      // END SOLUTION
    }
  }
  meet(flags, gpus, me);  // y is there, from all GPUs, and all have read x
}

}  // namespace DEVICE::two_shot_norm
