// stage 10 of the chapter for rows that fit in registers, three passes for the others
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_then_relu {

constexpr int kThreads = 256, kHeld = 16;

__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }
__device__ inline float affine(float z, float inverse, float weight, float bias) {
  return z * inverse * weight + bias;
}

__device__ void one_read(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ y, int columns, float epsilon) {
  const int t = threadIdx.x;
  float held[kHeld], weights[kHeld], biases[kHeld];
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int i = t + j * kThreads;
    held[j] = i < columns ? x[i] : 0.0f;
    weights[j] = i < columns ? weight[i] : 0.0f;
    biases[j] = i < columns ? bias[i] : 0.0f;
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) sum += held[j];
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    held[j] -= mean;
    squares += t + j * kThreads < columns ? held[j] * held[j] : 0.0f;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
#pragma unroll
  for (int j = 0; j < kHeld; ++j)
    if (t + j * kThreads < columns)
      y[t + j * kThreads] = relu(affine(held[j], inverse, weights[j], biases[j]));
}

__device__ void three_reads(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, float* __restrict__ y, int columns,
                            float epsilon) {
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += x[c];
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  for (int c = threadIdx.x; c < columns; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
  for (int c = threadIdx.x; c < columns; c += kThreads)
    y[c] = relu(affine(x[c] - mean, inverse, weight[c], bias[c]));
}

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  if (columns <= kThreads * kHeld)
    one_read(x + first, weight, bias, y + first, columns, epsilon);
  else
    three_reads(x + first, weight, bias, y + first, columns, epsilon);
}

}  // namespace DEVICE::layernorm_then_relu
