/// \file
/// Stage 5: the same quotients in three instructions each: multiplied by a reciprocal that is
/// computed once, then corrected. Each thread has two vectors in flight.
#pragma once
#include "03_packed.cuh"

namespace DEVICE::quantize_int8 {

/// A scale that many elements are divided by.
struct Steps {
  float scale, zero_point, reciprocal;
  float limit;  ///< divided() is exact enough for every x with |x| < limit
};

// [steps]
/// Unless 2^-60 < |scale| < 2^60, the limit is 0: every element takes the division. 0 and NaN are such
/// scales.
__host__ __device__ inline Steps steps_of(float scale, float zero_point) {
  const bool usual = fabsf(scale) > 0x1p-60f && fabsf(scale) < 0x1p60f;
  return {scale, zero_point, 1.0f / scale, usual ? 0x1p60f : 0.0f};
}
// [steps]

// [divided]
/// x / by.scale for |x| < by.limit, equal to the division in every bit, except for quotients below 2^-30,
/// which round to 0 anyway. The product may be off by an ulp or more. A fused multiply-add then computes the
/// remainder with one rounding, and a second one adds the remainder's share of the quotient. (P. Markstein,
/// IBM Journal of Research and Development 34(1), 1990; for what his proof leaves out,
/// docs/exact_division.md.)
__device__ inline float divided(float x, const Steps& by) {
  const float nearly = x * by.reciprocal;
  const float remainder = __fmaf_rn(-by.scale, nearly, x);
  return __fmaf_rn(remainder, by.reciprocal, nearly);
}

/// The step nearest to `value`, to even in the middle. The conversion turns a value too large for an int into
/// the nearest int, and a NaN into 0 (PTX ISA, cvt), so the clamp can come after it.
__device__ inline signed char nearest_step(float value) {
  const int nearest = __float2int_rn(value);
  const int not_less = nearest > -128 ? nearest : -128;
  return static_cast<signed char>(not_less < 127 ? not_less : 127);
}
// [divided]

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

/// q[i] = the int8 of x[i], in blocks of kCorrectedThreads threads with two vectors each, one block
/// width apart; any n, any alignment. Traffic: that of stage 3.
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

// --- On the host ---

struct Corrected {
  static constexpr Stage row = kOneScale.with(
      {.name = "05_corrected", .idea = "exact division in three instructions, two vectors per thread"});
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    launch(corrected, ceil_div(n, 8 * kCorrectedThreads), kCorrectedThreads, data[kX],
           steps_of(kScale, kZeroPoint), data[kQ], n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4); }
};

}  // namespace DEVICE::quantize_int8
