/// \file
/// Stage 9: mean and variance in one pass. Not as E[x^2] - E[x]^2, which takes one large number from another:
/// each thread keeps mean and squared distances up to date (Welford), and the tree merges those of two
/// threads (Chan, Golub and LeVeque).
#pragma once
#include "7_unfused.cuh"

namespace DEVICE::relu_layernorm {

/// Of `count` numbers: their mean, and the sum of the squares of their distances from it.
struct Moments {
  float count, mean, squares;
};

/// One number more.
__device__ inline Moments with(Moments m, float x) {
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
}

/// Those of both together. Of no numbers at all the mean may be anything.
__device__ inline Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float share = b.count == 0.0f ? 0.0f : b.count / count;
  const float gap = a.count == 0.0f ? 0.0f : distance * distance * a.count * share;
  return {count, a.mean + distance * share, a.squares + b.squares + gap};
}

/// The moments of the threads' numbers together, in every thread; all of them must call it. A tree.
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

/// y = the normalised row of relu(x), one block per row. Traffic: asks for 8 bytes and writes 4 bytes per
/// element, and weight and bias once a row.
__global__ void two_passes(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ y, int columns,
                           float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < columns; c += kRowThreads) mine = with(mine, relu(x[first + c]));
  const Moments row = block_moments(mine);
  const float inverse = rsqrtf(row.squares / row.count + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = (relu(x[first + c]) - row.mean) * inverse * weight[c] + bias[c];
}

}  // namespace DEVICE::relu_layernorm
