/// \file
/// Stage 9: mean and variance in one pass. Not as E[x^2] - E[x]^2, which subtracts one large number from
/// another: each thread updates mean and squared distances with every number (Welford), and the tree merges
/// those of two threads (Chan, Golub and LeVeque).
#pragma once
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

// [moments]
/// Of `count` numbers: their mean, and the sum of the squares of their distances from it.
struct Moments {
  float count, mean, squares;
};

/// The moments with one more number.
__device__ inline Moments welford_update(Moments m, float x) {
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
}

/// The moments of both sets of numbers together. An empty set has mean 0.
__device__ inline Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float share = b.count == 0.0f ? 0.0f : b.count / count;
  const float gap = a.count * b.count == 0.0f ? 0.0f : distance * distance * a.count * share;
  return {count, a.mean + distance * share, a.squares + b.squares + gap};
}
// [moments]

/// The moments of the numbers of all threads together, in every thread; all of them must call it. A tree.
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

/// y = the normalised row of relu(x), one block per row. Traffic: reads 8 bytes and writes 4 bytes per
/// element, and reads weight and bias once per row.
__global__ void two_passes(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ y, int columns,
                           float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < columns; c += kRowThreads) mine = welford_update(mine, relu(x[first + c]));
  const Moments row = block_moments(mine);
  const float inverse = rsqrtf(row.squares / row.count + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = (relu(x[first + c]) - row.mean) * inverse * weight[c] + bias[c];
}

// --- On the host ---

/// On exact inputs: no mean of a part of a row is exact, and each is rounded after each number. A thread has
/// c = columns / 256 of them; rounding i of these moves its mean by i / c of it, and all roundings of 256
/// threads together the row's by sqrt(c / 3 / 256) roundings of the mean; the tree adds sqrt(1 + 1/2 + ...).
/// 6 times that bounds it with a probability close to 1. A mean is at most 3 times the distance that it is
/// compared to; 16 more are for the variance and what follows.
inline int welford_roundings(const Shape& s) {
  const double of_mean = 6 * sqrt(2 + s.dims[1] / (3.0 * kRowThreads * kRowThreads));
  return static_cast<int>(3 * of_mean) + 16;
}

struct TwoPasses {
  static constexpr Stage row = kNormalises.with({.name = "09_two_passes",
                                                 .idea = "mean and variance in one pass, by Welford and Chan",
                                                 .exact_roundings = welford_roundings,
                                                 .needs = kBlockPerRow});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(two_passes, s.rows, kRowThreads, data[kX], data[kWeight], data[kBias], data[kY], s.columns,
           kEpsilon);
  }
  static Traffic traffic(const Shape& s) { return with_parameters(s, 2 * once(s), once(s), rows(s)); }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
