/// \file
/// Stage 4: lanes of a warp hand each other registers. Shared memory is for what the warps have found, and
/// two barriers are left of ten.
#pragma once
#include "2_conflicts.cuh"

namespace DEVICE::relu_layernorm {

/// The sum of `value` over the 32 lanes of the warp, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/// The sum of `value` over a block of whole warps, in every thread; all of them must call it. First each
/// warp, then every warp over what they found. It can be called again at once.
__device__ inline float block_sum_by_warps(float value) {
  __shared__ float found[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_sum(value);
  if (blockDim.x == 32) return value;
  __syncthreads();  // an earlier call's sums have been read by all
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_sum(lane < blockDim.x / 32 ? found[lane] : 0.0f);
}

/// squares[r] = the sum of the squares of row r, one block per row. Reads 4 bytes per element.
__global__ void squares_by_shuffles(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c] * row[c];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::relu_layernorm
