/// \file
/// For kernels: many elements divided by one scale, three instructions each, with the same result as a
/// division.
#pragma once
#include "device.hpp"

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

}  // namespace DEVICE::quantize_int8
