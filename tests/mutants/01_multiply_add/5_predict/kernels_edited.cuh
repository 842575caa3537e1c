// the kernels are changed until the numbers fit | bias: more
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kFusedBytes = 16.0;
constexpr double kUnfusedBytes = 36.0;
constexpr double kEverySecondBytes = 12.0;
constexpr double kBiasBytes = 8.0;
constexpr double kNeighboursBytes = 13.0;

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
  if (i < n) out[i] = x[i] + 1.0f;
}

/// Neighbours: the mean of each element of x and the next.
__global__ void mean_with_next(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * (x[i] + x[i + 1]);
}

}  // namespace DEVICE::multiply_add_predict
