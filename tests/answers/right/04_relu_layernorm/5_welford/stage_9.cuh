// stage 9 of the chapter
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

constexpr int kRowThreads = 256;

struct Moments {
  float count, mean, squares;
};

__device__ inline Moments with(Moments m, float x) {
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
}

/// The moments of both sets of numbers together. An empty set has mean 0.
__device__ inline Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float share = b.count == 0.0f ? 0.0f : b.count / count;
  const float gap = a.count == 0.0f ? 0.0f : distance * distance * a.count * share;
  return {count, a.mean + distance * share, a.squares + b.squares + gap};
}

__device__ inline Moments block_moments(Moments mine) {
  __shared__ float count[kRowThreads], mean[kRowThreads], squares[kRowThreads];
  const unsigned t = threadIdx.x;
  count[t] = mine.count;
  mean[t] = mine.mean;
  squares[t] = mine.squares;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      mine = merged(mine, {count[t + half], mean[t + half], squares[t + half]});
      count[t] = mine.count;
      mean[t] = mine.mean;
      squares[t] = mine.squares;
    }
    __syncthreads();
  }
  return {count[0], mean[0], squares[0]};
}

__global__ void row_moments(const float* __restrict__ x, float* __restrict__ means,
                            float* __restrict__ variances, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < columns; c += kRowThreads) mine = with(mine, x[first + c]);
  const Moments row = block_moments(mine);
  if (threadIdx.x > 0) return;
  means[blockIdx.x] = row.mean;
  variances[blockIdx.x] = row.squares / row.count;
}

}  // namespace DEVICE::layernorm_welford
