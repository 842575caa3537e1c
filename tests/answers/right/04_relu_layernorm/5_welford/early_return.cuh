// an empty part returns the other one, and one number more is a part of one
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

struct Moments {
  float count, mean, squares;
};

__device__ inline Moments merged(Moments a, Moments b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Moments both;
  both.count = a.count + b.count;
  const float d = b.mean - a.mean;
  both.mean = (a.count * a.mean + b.count * b.mean) / both.count;
  both.squares = a.squares + b.squares + d * d * (a.count * b.count / both.count);
  return both;
}

__device__ inline Moments with(Moments m, float x) { return merged(m, {1.0f, x, 0.0f}); }

__global__ void row_moments(const float* x, float* means, float* variances, int columns) {
  __shared__ Moments parts[256];
  const int t = threadIdx.x;
  Moments mine = {0, 0, 0};
  for (int c = t; c < columns; c += 256) mine = with(mine, x[(size_t)blockIdx.x * columns + c]);
  parts[t] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) parts[t] = merged(parts[t], parts[t + half]);
    __syncthreads();
  }
  if (t == 0) {
    means[blockIdx.x] = parts[0].mean;
    variances[blockIdx.x] = parts[0].squares / columns;
  }
}

}  // namespace DEVICE::layernorm_welford
