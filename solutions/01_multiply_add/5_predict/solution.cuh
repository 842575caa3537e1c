/// \file
/// Exercise 01.5, predict: the bytes that five pipelines move per element.
///
/// Numbers, not code: for each of the five, the bytes that its kernels read and write together for one
/// element of `out`, to a tenth of a byte, for large n. Memory comes in sectors of 32 bytes. A warp of 32
/// threads requests each sector that it touches in one instruction, even if another request read it before.
/// All arrays begin at a multiple of 32 bytes; blocks have 256 threads, each with one element. Write down
/// your reasons before you check.
///
/// Goal: all five as the CPU device counts them.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

// BEGIN SOLUTION
constexpr double kFusedBytes = 4 + 4 + 4 + 4;               // q, k, v and out
constexpr double kUnfusedBytes = 3 * (4 + 4 + 4);           // three kernels: two arrays read, one written
constexpr double kEverySecondBytes = 2 * 4 + 4;             // whole sectors of x are read; out
constexpr double kBiasBytes = 4 + 4 + 32.0 / 32;            // x, out, one sector of bias per warp
constexpr double kNeighboursBytes = 4 + 5 * 32.0 / 32 + 4;  // x[i], five sectors for x[i + 1], out
// SKELETON
// constexpr double kFusedBytes = 0.0;
// constexpr double kUnfusedBytes = 0.0;
// constexpr double kEverySecondBytes = 0.0;
// constexpr double kBiasBytes = 0.0;
// constexpr double kNeighboursBytes = 0.0;
// END SOLUTION

/// Fused, in one kernel: out = (q + k) * v + q.
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float mine = q[i];
  out[i] = (mine + k[i]) * v[i] + mine;
}

/// Unfused, the same in three kernels: sum = q + k, product = sum * v, out = product + q.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * b[i];
}

/// Every second: out takes every second element of x, which has 2 * n.
__global__ void every_second(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[2 * i];
}

/// Bias: adds to x one of four numbers in turn.
__global__ void add_bias(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + bias[i % 4];
}

/// Neighbours: the mean of each element of x and the next.
__global__ void mean_with_next(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * (x[i] + x[i + 1]);
}

}  // namespace DEVICE::multiply_add_predict
