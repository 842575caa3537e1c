/// \file
/// Stage 7: the row stays in registers between the two passes, so it is read once; warps reduce by shuffles.
#pragma once
#include "5_two_kernels.cuh"

namespace DEVICE::quantize_int8 {

/// The largest of `value` over the 32 lanes of the warp, in every lane.
__device__ inline float warp_largest(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

/// The same over a block of up to 1024 threads, whole warps: first each warp, then one warp over what they
/// found.
__device__ inline float block_largest_by_warps(float value) {
  __shared__ float found[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_largest(value);
  if (blockDim.x == 32) return value;
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_largest(lane < blockDim.x / 32 ? found[lane] : 0.0f);
}

/// scales[r] and q of row r, one block per row, whose threads hold up to Vectors float4 of it each, a block
/// width apart: columns <= 4 * Vectors * blockDim.x. The rows begin at multiples of 16 bytes, and q's of 4.
/// Traffic: reads 4 bytes and writes 1 byte per element.
template <int Vectors>
__global__ void __launch_bounds__(1024) quantize_once(const float* __restrict__ x, float* __restrict__ scales,
                                                      signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const float4* row = reinterpret_cast<const float4*>(x + first);
  const int vectors = columns / 4;
  float4 held[Vectors];
  float largest = 0.0f;
#pragma unroll
  for (int j = 0; j < Vectors; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    held[j] = i < vectors ? row[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
#pragma unroll
  for (int j = 0; j < Vectors; ++j) {
    largest = larger(largest, fabsf(held[j].x));
    largest = larger(largest, fabsf(held[j].y));
    largest = larger(largest, fabsf(held[j].z));
    largest = larger(largest, fabsf(held[j].w));
  }
  const float scale = scale_of(block_largest_by_warps(largest));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  char4* out = reinterpret_cast<char4*>(q + first);
#pragma unroll
  for (int j = 0; j < Vectors; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i < vectors) out[i] = quantized4(held[j], scale, 0.0f);
  }
}

/// The same element by element, for rows that do not begin at such multiples: columns <= Elements *
/// blockDim.x.
template <int Elements>
__global__ void __launch_bounds__(1024)
    quantize_once_unaligned(const float* __restrict__ x, float* __restrict__ scales,
                            signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[Elements];
  float largest = 0.0f;
#pragma unroll
  for (int j = 0; j < Elements; ++j) {
    const int c = threadIdx.x + j * blockDim.x;
    held[j] = c < columns ? x[first + c] : 0.0f;
    largest = larger(largest, fabsf(held[j]));
  }
  const float scale = scale_of(block_largest_by_warps(largest));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
#pragma unroll
  for (int j = 0; j < Elements; ++j) {
    const int c = threadIdx.x + j * blockDim.x;
    if (c < columns) q[first + c] = to_int8(quantized(held[j], scale, 0.0f));
  }
}

}  // namespace DEVICE::quantize_int8
