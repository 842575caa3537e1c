// a lambda walks over the columns of a thread, and names that the specification uses as well
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

constexpr int kThreads = 256, elements = 8;
__device__ constexpr int kShapes[2] = {kThreads, elements};

__device__ inline float relu(float v) { return v < 0.0f ? 0.0f : v; }

__device__ inline float block_sum(float value) {
  __shared__ float blocks[kThreads / 32];
  const unsigned lane = threadIdx.x % 32;
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
  __syncthreads();
  if (lane == 0) blocks[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0.0f;
  for (const float one : blocks) total += one;
  return total;
}

template <class Body>
__device__ void each_column(int columns, Body body) {
#pragma unroll
  for (int j = 0; j < kShapes[1]; ++j) {
    const int c = threadIdx.x + j * kShapes[0];
    if (c < columns) body(j, c);
  }
}

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  const float* rows = x + static_cast<size_t>(blockIdx.x) * columns;
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;
  float held[elements], sum = 0.0f, squares = 0.0f;
  each_column(columns, [&](int j, int c) { sum += held[j] = relu(rows[c]); });
  const float mean = block_sum(sum) / columns;
  each_column(columns, [&](int j, int) {
    held[j] -= mean;
    squares = fmaf(held[j], held[j], squares);
  });
  const float inverse = rsqrtf(block_sum(squares) / columns + epsilon);
  each_column(columns, [&](int j, int c) { out[c] = held[j] * inverse; });
}

}  // namespace DEVICE::layernorm_one_read
