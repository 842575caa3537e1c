// the lesson's stage 8
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_one_read {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }
__device__ inline float scale_of(float largest) { return largest > 0.0f ? largest / 127.0f : 1.0f; }

struct Steps {
  float scale, zero_point, reciprocal;
  float limit;
};

__host__ __device__ inline Steps steps_of(float scale, float zero_point) {
  const bool usual = fabsf(scale) > 0x1p-60f && fabsf(scale) < 0x1p60f;
  return {scale, zero_point, 1.0f / scale, usual ? 0x1p60f : 0.0f};
}

__device__ inline float divided(float x, const Steps& by) {
  const float nearly = x * by.reciprocal;
  const float remainder = __fmaf_rn(-by.scale, nearly, x);
  return __fmaf_rn(remainder, by.reciprocal, nearly);
}

__device__ inline signed char nearest_step(float value) {
  const int nearest = __float2int_rn(value);
  const int not_less = nearest > -128 ? nearest : -128;
  return static_cast<signed char>(not_less < 127 ? not_less : 127);
}

__device__ inline signed char in_steps(float x, const Steps& by) {
  return nearest_step((fabsf(x) < by.limit ? divided(x, by) : x / by.scale) + by.zero_point);
}

__device__ inline char4 in_steps(float4 x, const Steps& by) {
  const float shift = by.zero_point;
  const bool usual =
      (fabsf(x.x) < by.limit) & (fabsf(x.y) < by.limit) & (fabsf(x.z) < by.limit) & (fabsf(x.w) < by.limit);
  if (usual)
    return make_char4(nearest_step(divided(x.x, by) + shift), nearest_step(divided(x.y, by) + shift),
                      nearest_step(divided(x.z, by) + shift), nearest_step(divided(x.w, by) + shift));
  return make_char4(nearest_step(x.x / by.scale + shift), nearest_step(x.y / by.scale + shift),
                    nearest_step(x.z / by.scale + shift), nearest_step(x.w / by.scale + shift));
}

__device__ inline float warp_largest(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

__device__ inline float block_largest_by_warps(float value) {
  __shared__ float found[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_largest(value);
  if (blockDim.x == 32) return value;
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_largest(lane < blockDim.x / 32 ? found[lane] : 0.0f);
}

__device__ inline float largest_of(float x) { return fabsf(x); }
__device__ inline float largest_of(float4 x) {
  return larger(larger(larger(larger(0.0f, fabsf(x.x)), fabsf(x.y)), fabsf(x.z)), fabsf(x.w));
}

constexpr int kHeldBytes = 64;
template <class Vector>
constexpr int kHeld = kHeldBytes / sizeof(Vector);

template <class Vector>
__device__ void quantize_once(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float)), threads = blockDim.x;
  const int beyond = kHeld<Vector> * threads + threadIdx.x;
  Vector* staged = dynamic_shared<Vector>() - kHeld<Vector> * threads;
  for (int i = beyond; i < vectors; i += threads)
    __pipeline_memcpy_async(&staged[i], &row[i], sizeof(Vector));
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
  for (int i = beyond; i < vectors; i += threads) largest = larger(largest, largest_of(staged[i]));

  const Steps by = steps_of(scale_of(block_largest_by_warps(largest)), 0.0f);
  if (threadIdx.x == 0) scales[blockIdx.x] = by.scale;
  auto* out = reinterpret_cast<decltype(in_steps(Vector{}, by))*>(q + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    if (i < vectors) out[i] = in_steps(held[j], by);
  }
  for (int i = beyond; i < vectors; i += threads) out[i] = in_steps(staged[i], by);
}


__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  if (columns % 4 == 0)
    quantize_once<float4>(x, scales, q, columns);
  else
    quantize_once<float>(x, scales, q, columns);
}

}  // namespace DEVICE::quantize_one_read
