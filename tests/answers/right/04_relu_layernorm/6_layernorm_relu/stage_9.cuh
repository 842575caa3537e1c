// stage 9 of the chapter, with ReLU last: mean and variance in one pass
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

constexpr int kRowThreads = 256;

struct Moments {
  float count, mean, squares;
};

__device__ inline Moments with(Moments m, float x) {
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
}

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

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < columns; c += kRowThreads) mine = with(mine, x[first + c]);
  const Moments row = block_moments(mine);
  const float inverse = rsqrtf(row.squares / row.count + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = fmaxf(0.0f, (x[first + c] - row.mean) * inverse * weight[c] + bias[c]);
}

}  // namespace DEVICE::layernorm_then_relu
