// a template over the term, two chains per thread, and parts merged downwards: the upper half is first
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

struct Moments {
  float count, mean, squares;
};

__device__ inline Moments merged(Moments a, Moments b) {
  if (a.count + b.count == 0.0f) return {0.0f, 0.0f, 0.0f};
  const float n = a.count + b.count, mean = a.mean + (b.mean - a.mean) * (b.count / n);
  const float from_a = a.mean - mean, from_b = b.mean - mean;
  return {n, mean, a.squares + a.count * from_a * from_a + b.squares + b.count * from_b * from_b};
}

__device__ inline Moments with(Moments m, float x) {
  const Moments one = {1.0f, x, 0.0f};
  return merged(m, one);
}

template <int Threads>
__device__ Moments of_block(Moments mine) {
  __shared__ Moments shared[Threads];
  const int t = threadIdx.x;
  shared[t] = mine;
  __syncthreads();
#pragma unroll
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (t < half) shared[t] = merged(shared[t + half], shared[t]);
    __syncthreads();
  }
  return shared[0];
}

__global__ void row_moments(const float* __restrict__ x, float* __restrict__ means,
                            float* __restrict__ variances, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  Moments even = {0, 0, 0}, odd = {0, 0, 0};
  for (int c = threadIdx.x; c < columns; c += 512) {
    even = with(even, row[c]);
    if (c + 256 < columns) odd = with(odd, row[c + 256]);
  }
  const Moments all = of_block<256>(merged(even, odd));
  if (threadIdx.x == 0) {
    means[blockIdx.x] = all.mean;
    variances[blockIdx.x] = all.squares / all.count;
  }
}

}  // namespace DEVICE::layernorm_welford
