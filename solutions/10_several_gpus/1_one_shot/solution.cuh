/// \file
/// Exercise 10.1, one_shot: add up a row over all GPUs, and normalise it.
///
/// A layer is split over several GPUs, so that each has computed only a part of every sum: its array x. In
/// place of two kernels, an all-reduce and a norm, write one that each GPU runs: for each row,
///
///     h = residual + the sum of x over all GPUs
///     y = h / sqrt(mean of h * h over the row + kEpsilon) * weight
///
/// residual and weight are the same on all GPUs, and so must h and y be in the end. x.of[g] is the array x of
/// GPU g. A kernel can read it like its own memory; the loads then go over NVLink. All GPUs run the kernel at
/// the same time. Before it, each one runs a kernel that writes its x, and after it one that overwrites its
/// x: so GPUs must wait for each other. meet() of meet.hpp does that, and exercise 10.3 is about how.
///
/// Goal: with N GPUs, N - 1 floats per element are read over NVLink, and none is written but the flags of
/// meet(): two calls of it are enough. In all, N + 3 floats are read and 2 written.
#pragma once
#include "device.hpp"
#include "meet.hpp"
#include "sums.hpp"

namespace DEVICE::one_shot_norm {

constexpr float kEpsilon = 1e-5f;

/// This GPU has number `me` of `gpus`. It is launched on each GPU with one block of 256 threads per row, so
/// blockIdx.x is the row. meet(flags, gpus, me) lets the block wait for the blocks with its number on all
/// other GPUs; all threads of the block call it. block_sum_by_warps() adds up a float of each thread.
__global__ void one_shot(const __grid_constant__ OnGpus<const float> x, const float* __restrict__ residual,
                         const float* __restrict__ weight, float* __restrict__ h, float* __restrict__ y,
                         const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  // BEGIN SOLUTION
  meet(flags, gpus, me);  // x is there on all GPUs
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float sum = residual[first + c];
    for (int gpu = 0; gpu < gpus; ++gpu) sum += x.of[gpu][first + c];
    h[first + c] = sum;
    squares += sum * sum;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + kEpsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) y[first + c] = h[first + c] * inverse * weight[c];
  meet(flags, gpus, me);  // all GPUs have read x
  // SKELETON
  // // TODO: this GPU's x alone is added, nothing is normalised, and no GPU waits for another one.
  // for (int c = threadIdx.x; c < columns; c += blockDim.x) {
  //   h[first + c] = residual[first + c] + x.of[me][first + c];
  //   y[first + c] = h[first + c] * weight[c];
  // }
  // END SOLUTION
}

}  // namespace DEVICE::one_shot_norm
