// the row is kept in shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

constexpr int kThreads = 256;

__device__ float block_sum(float value) {
  __shared__ float sums[kThreads];
  __syncthreads();
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

__global__ void normalise(const float* x, float* y, int columns, float epsilon) {
  __shared__ float row[2048];
  const float* in = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) {
    row[c] = fmaxf(in[c], 0.0f);
    sum += row[c];
  }
  const float mean = block_sum(sum) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) squares += (row[c] - mean) * (row[c] - mean);
  const float inverse = 1.0f / sqrtf(block_sum(squares) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += kThreads) out[c] = (row[c] - mean) * inverse;
}

}  // namespace DEVICE::layernorm_one_read
