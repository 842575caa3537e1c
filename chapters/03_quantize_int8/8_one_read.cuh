/// \file
/// Stage 8: the row stays on the multiprocessor between the two passes, so it is read once: in registers, and
/// what is too much for them in shared memory. Warps reduce by shuffles.
#pragma once
#include "5_corrected.cuh"

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

/// The largest absolute value in one vector.
__device__ inline float largest_of(float x) { return fabsf(x); }
__device__ inline float largest_of(float4 x) {
  return larger(larger(larger(larger(0.0f, fabsf(x.x)), fabsf(x.y)), fabsf(x.z)), fabsf(x.w));
}

/// Vectors that a thread holds in registers: 64 bytes.
template <class Vector>
constexpr int kHeld = 64 / sizeof(Vector);

/// scales[r] and q of row r, one block per row. `Vector` is float4, for rows that begin at multiples of 16
/// bytes and q's of 4, or float. Thread t has the vectors t, t + blockDim.x and so on of its row: the first
/// kHeld in registers, the others in dynamic shared memory. No other thread reads them there, so no barrier
/// is needed. Traffic: reads 4 bytes and writes 1 byte per element.
template <class Vector>
__global__ void __launch_bounds__(1024) quantize_once(const float* __restrict__ x, float* __restrict__ scales,
                                                      signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float)), threads = blockDim.x;
  const int beyond = kHeld<Vector> * threads + threadIdx.x;
  Vector* waiting = dynamic_shared<Vector>() - kHeld<Vector> * threads;
  for (int i = beyond; i < vectors; i += threads)
    __pipeline_memcpy_async(&waiting[i], &row[i], sizeof(Vector));
  __pipeline_commit();

  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    held[j] = i < vectors ? row[i] : Vector{};
  }
  float largest = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) largest = larger(largest, largest_of(held[j]));
  __pipeline_wait_prior(0);
  for (int i = beyond; i < vectors; i += threads) largest = larger(largest, largest_of(waiting[i]));

  const Steps by = steps_of(scale_of(block_largest_by_warps(largest)), 0.0f);
  if (threadIdx.x == 0) scales[blockIdx.x] = by.scale;
  auto* out = reinterpret_cast<decltype(in_steps(Vector{}, by))*>(q + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    if (i < vectors) out[i] = in_steps(held[j], by);
  }
  for (int i = beyond; i < vectors; i += threads) out[i] = in_steps(waiting[i], by);
}

}  // namespace DEVICE::quantize_int8
