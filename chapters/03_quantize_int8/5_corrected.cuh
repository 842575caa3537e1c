/// \file
/// Stage 5: the same quotients in three instructions each. All elements have one divisor, so its reciprocal
/// is computed once, and what it does to a quotient is put right. Two vectors a thread are on their way at
/// once.
#pragma once
#include "3_packed.cuh"

namespace DEVICE::quantize_int8 {

/// A scale by which many elements are divided.
struct Steps {
  float scale, zero_point, reciprocal;
  float limit;  ///< `divided` is exact enough for every x below it in size
};

/// A scale beyond 2^60 or below 2^-60 in size, 0 and NaN have limit 0: elements must be divided one by one.
__host__ __device__ inline Steps steps_of(float scale, float zero_point) {
  const bool usual = fabsf(scale) > 0x1p-60f && fabsf(scale) < 0x1p60f;
  return {scale, zero_point, 1.0f / scale, usual ? 0x1p60f : 0.0f};
}

/// x / by.scale, the same number in every bit, for x below by.limit in size; of quotients below 2^-30, which
/// round to 0 anyway, not the last bits. The first product may be off by an ulp or so. The fused multiply-add
/// then finds, without a rounding, what is left over, and the last one adds what that is worth. (P.
/// Markstein, IBM Journal of Research and Development 34(1), 1990.)
__device__ inline float divided(float x, const Steps& by) {
  const float nearly = x * by.reciprocal;
  const float left_over = __fmaf_rn(-by.scale, nearly, x);
  return __fmaf_rn(left_over, by.reciprocal, nearly);
}

/// The step nearest to `value`, to even in the middle. The conversion takes what is too large for an int to
/// the nearest, and a NaN to 0 (PTX ISA, cvt), so that the clamp can come after it.
__device__ inline signed char nearest_step(float value) {
  const int nearest = __float2int_rn(value);
  const int not_less = nearest > -128 ? nearest : -128;
  return static_cast<signed char>(not_less < 127 ? not_less : 127);
}

/// The same steps as quantized().
__device__ inline signed char in_steps(float x, const Steps& by) {
  return nearest_step((fabsf(x) < by.limit ? divided(x, by) : x / by.scale) + by.zero_point);
}

/// The same steps as quantized4(). One test for all four: a NaN fails it.
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

constexpr int kCorrectedThreads = 256;

/// q[i] = the int8 of x[i], in blocks of kCorrectedThreads threads with two vectors each, a block width
/// apart; any n, any alignment. Traffic: that of stage 3.
__global__ void corrected(const float* __restrict__ x, Steps by, signed char* __restrict__ q, int n) {
  const Split at = split<4>(n, x, q);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  char4* q4 = reinterpret_cast<char4*>(q + at.head);
  const unsigned i = 2 * blockIdx.x * kCorrectedThreads + threadIdx.x, j = i + kCorrectedThreads;
  if (j < at.vectors) {
    const float4 one = x4[i], other = x4[j];
    q4[i] = in_steps(one, by);
    q4[j] = in_steps(other, by);
  } else if (i < at.vectors) {
    q4[i] = in_steps(x4[i], by);
  }
  quantize_singles(at, x, by.scale, by.zero_point, q);
}

}  // namespace DEVICE::quantize_int8
