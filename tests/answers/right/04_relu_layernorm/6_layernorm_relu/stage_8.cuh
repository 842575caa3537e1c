// stage 8 of the chapter, with ReLU last
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

constexpr int kRowThreads = 256;

__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }

__device__ inline float block_sum(float value) {
  __shared__ float sums[kRowThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();  // every thread has read the sum of an earlier call
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      value += sums[t + half];
      sums[t] = value;
    }
    __syncthreads();
  }
  return sums[0];
}

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += x[first + c];
  const float mean = block_sum(sum) / static_cast<float>(columns);

  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) {
    const float distance = x[first + c] - mean;
    squares += distance * distance;
  }
  const float inverse = rsqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = relu((x[first + c] - mean) * inverse * weight[c] + bias[c]);
}

}  // namespace DEVICE::layernorm_then_relu
