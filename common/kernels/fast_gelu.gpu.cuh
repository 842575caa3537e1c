/// \file
/// For kernels: GELU in a few instructions of the special function unit, where gelu() and gelu_tanh() would
/// take more time than the product that they follow.
#pragma once
#include "device.hpp"

namespace DEVICE {

// [fast]
/// 2^v, with a relative error below 2^-22, in one instruction.
__device__ inline float fast_exp2(float v) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}
/// 1 / v, with a relative error below 2^-22, in one instruction.
__device__ inline float fast_reciprocal(float v) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

/// gelu() from erfc(|v| / sqrt(2)) = p(t) exp(-v^2 / 2) with t = 1 / (1 + 0.3275911 |v| / sqrt(2)) and a
/// polynomial p. The error of erfc is at most 1.5e-7 (M. Abramowitz, I. Stegun, Handbook of Mathematical
/// Functions, 7.1.26).
struct FastGelu {
  __device__ float operator()(float v) const {
    const float size = fabsf(v), t = fast_reciprocal(1.0f + 0.23164189f * size);
    const float p = t * (0.254829592f +
                         t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    return fmaxf(v, 0.0f) - 0.5f * size * p * fast_exp2(-0.72134752f * v * v);
  }
};

/// gelu_tanh() with the hardware's tanh, whose relative error is at most 2^-11. The result is therefore off
/// by at most 2^-12 |v|. Compute capability 7.5.
struct FastGeluTanh {
  __device__ float operator()(float v) const {
    float tanh_of;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_of) : "f"(v * (0.79788456f + 0.035677408f * v * v)));
    const float half = 0.5f * v;
    return half + half * tanh_of;
  }
};
// [fast]

}  // namespace DEVICE
