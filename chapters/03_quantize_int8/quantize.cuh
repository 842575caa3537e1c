/// \file
/// For kernels: what all stages of the chapter compute, in one place. A float becomes one of 256 steps.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_int8 {

// [quantized]
/// round(x / scale + zero_point), to nearest even as torch.round does it, clamped to [-128, 127]; a whole
/// number in a float. The clamp comes before any conversion, because converting a float that does not fit is
/// undefined: infinities and quotients that overflow become -128 or 127, and a NaN (of x, of scale, or 0 / 0)
/// becomes 0. A scale should be positive; 0, negative and denormal ones give what the division gives.
__device__ inline float quantized(float x, float scale, float zero_point) {
  const float rounded = rintf(x / scale + zero_point);
  const float number = rounded == rounded ? rounded : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return not_less < 127.0f ? not_less : 127.0f;
}
// [quantized]

__device__ inline signed char to_int8(float step) { return static_cast<signed char>(step); }

/// Four neighbouring elements.
__device__ inline char4 quantized4(float4 x, float scale, float zero_point) {
  return make_char4(to_int8(quantized(x.x, scale, zero_point)), to_int8(quantized(x.y, scale, zero_point)),
                    to_int8(quantized(x.z, scale, zero_point)), to_int8(quantized(x.w, scale, zero_point)));
}

/// The scale that maps the largest absolute value of a row to 127. A row of zeros has scale 1.
__device__ inline float scale_of(float largest) { return largest > 0.0f ? largest / 127.0f : 1.0f; }

/// The larger of two absolute values. A NaN in b is ignored, and so never gets into a.
__device__ inline float larger(float a, float b) { return b > a ? b : a; }

}  // namespace DEVICE::quantize_int8
