/// \file
/// Stage 7, the first that computes y: a kernel for each operation, as a library without this one would run
/// it.
#pragma once
#include "3_tree.cuh"

namespace DEVICE::relu_layernorm {

/// max(x, 0); a NaN stays one.
__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }

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

/// out = (r - mean) * inverse, row by row. Reads 4 bytes and writes 4 bytes per element.
__global__ void normalise(const float* __restrict__ r, const float* __restrict__ mean,
                          const float* __restrict__ inverse, float* __restrict__ out, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const float centre = mean[blockIdx.x], factor = inverse[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += kRowThreads) out[first + c] = (r[first + c] - centre) * factor;
}

/// y = z * weight + bias, row by row. Reads 4 bytes and writes 4 bytes per element, and asks for weight and
/// bias once a row.
__global__ void scale_and_shift(const float* __restrict__ z, const float* __restrict__ weight,
                                const float* __restrict__ bias, float* __restrict__ y, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) y[first + c] = z[first + c] * weight[c] + bias[c];
}

}  // namespace DEVICE::relu_layernorm
