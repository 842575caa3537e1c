/// \file
/// Stage 7, the first that computes y: one kernel per operation, as a library runs it that has no kernel for
/// the whole.
#pragma once
#include "03_tree.cuh"
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

/// r[i] = relu(x[i]). Reads 4 bytes and writes 4 bytes per element.
__global__ void rectify(const float* __restrict__ x, float* __restrict__ r, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) r[i] = relu(x[i]);
}

/// mean[r] of each row, one block per row. Reads 4 bytes per element.
__global__ void row_means(const float* __restrict__ r, float* __restrict__ mean, int columns) {
  const float* row = r + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) mean[blockIdx.x] = sum / static_cast<float>(columns);
}

// [inverses]
/// inverse[r] = 1 / sqrt(variance of row r + epsilon); the variance is the mean of the squared distances from
/// the mean (divided by the number of columns, not by one less). Reads 4 bytes per element.
__global__ void row_inverses(const float* __restrict__ r, const float* __restrict__ mean,
                             float* __restrict__ inverse, int columns, float epsilon) {
  const float* row = r + static_cast<size_t>(blockIdx.x) * columns;
  const float centre = mean[blockIdx.x];
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += (row[c] - centre) * (row[c] - centre);
  sum = block_sum(sum);
  if (threadIdx.x == 0) inverse[blockIdx.x] = rsqrtf(sum / static_cast<float>(columns) + epsilon);
}
// [inverses]

/// out = (r - mean) * inverse, row by row. Reads 4 bytes and writes 4 bytes per element.
__global__ void normalise(const float* __restrict__ r, const float* __restrict__ mean,
                          const float* __restrict__ inverse, float* __restrict__ out, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const float centre = mean[blockIdx.x], factor = inverse[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += kRowThreads) out[first + c] = (r[first + c] - centre) * factor;
}

/// y = z * weight + bias, row by row. Reads 4 bytes and writes 4 bytes per element, and reads weight and
/// bias once per row.
__global__ void scale_and_shift(const float* __restrict__ z, const float* __restrict__ weight,
                                const float* __restrict__ bias, float* __restrict__ y, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) y[first + c] = z[first + c] * weight[c] + bias[c];
}

// --- On the host ---

struct Unfused {
  static constexpr Stage row = kNormalises.with({.name = "07_unfused",
                                                 .idea = "ReLU and LayerNorm in five kernels",
                                                 .kernels = 5,
                                                 .needs = kBlockPerRow});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(rectify, ceil_div(s.n, kThreads), kThreads, data[kX], data[kRectified], s.n);
    launch(row_means, s.rows, kRowThreads, data[kRectified], data[kRowMean], s.columns);
    launch(row_inverses, s.rows, kRowThreads, data[kRectified], data[kRowMean], data[kRowInverse], s.columns,
           kEpsilon);
    launch(normalise, s.rows, kRowThreads, data[kRectified], data[kRowMean], data[kRowInverse],
           data[kNormalised], s.columns);
    launch(scale_and_shift, s.rows, kRowThreads, data[kNormalised], data[kWeight], data[kBias], data[kY],
           s.columns);
  }
  static Traffic traffic(const Shape& s) {
    const long long flat = sector_bytes(elements(s));
    return with_parameters(s, flat + 4 * once(s) + row_values(s, 3 * kRowThreads / 32),
                           flat + 2 * row_values(s) + 2 * once(s), rows(s));
  }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
