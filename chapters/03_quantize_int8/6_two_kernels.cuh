/// \file
/// Stage 6: a scale for each row, that at which the row just fits. One kernel finds each row's largest
/// absolute value, the next quantises: x is read twice.
#pragma once
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

constexpr int kRowThreads = 256;

/// The largest of `value` over the threads of the block, in shared memory, where any of them may read it; all
/// of them must call it. A tree. The block must have kRowThreads threads.
__device__ inline const float* block_largest(float value) {
  __shared__ float largest[kRowThreads];
  const unsigned t = threadIdx.x;
  largest[t] = value;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) largest[t] = larger(largest[t], largest[t + half]);
    __syncthreads();
  }
  return &largest[0];
}

/// scales[r] = the scale of row r, one block per row. Reads 4 bytes per element, writes one float per row.
__global__ void find_scales(const float* __restrict__ x, float* __restrict__ scales, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float largest = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) largest = larger(largest, fabsf(row[c]));
  const float* of_block = block_largest(largest);
  if (threadIdx.x == 0) scales[blockIdx.x] = scale_of(*of_block);
}

/// q = x in steps of its row's scale, one block per row. Reads 4 bytes and writes 1 byte per element.
__global__ void quantize_rows(const float* __restrict__ x, const float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const float scale = scales[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    q[first + c] = to_int8(quantized(x[first + c], scale, 0.0f));
}

}  // namespace DEVICE::quantize_int8
