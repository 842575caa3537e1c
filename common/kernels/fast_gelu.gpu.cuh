/// \file
/// For kernels: GELU in a few instructions of the special function unit, where gelu() and gelu_tanh() would
/// take more time than the product that they follow.
#pragma once
#include "device.hpp"

namespace DEVICE {

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
/// The larger of both; a NaN stays one, which fmaxf() would drop. One instruction since compute capability
/// 8.0.
__device__ inline float max_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a < b ? b : a;
#endif
}

// [fast]
/// p(t), with t = 1 / (1 + 0.344 size), stands for erfc(size / sqrt(2)) exp(size^2 / 2) / 2: the form of
/// M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 7.1.26. Its coefficients are a fit of our
/// own, for an error of FastGelu below 2^-21 |v| that also, where the result is small, is below 0.0013 of it:
/// a third of a bfloat16's last place.
__device__ inline float fast_tail(float size) {
  const float t = fast_reciprocal(1.0f + 0.344f * size);
  return t * (0.13404255f + t * (0.17012276f + t * (-0.0014746542f + t * (0.29673406f + t * -0.099424967f))));
}

/// gelu() as max(v, 0) - |v| p exp(-v^2 / 2), with p = fast_tail(|v|). gelu(-inf) is 0.
struct FastGelu {
  __device__ float operator()(float v) const {
    const float size = fminf(fabsf(v), 20.0f);
    return max_or_nan(v, 0.0f) - size * fast_tail(size) * fast_exp2(-0.72134752f * size * size);
  }
};
// [fast]

/// gelu_slope() with the same p: the exponential is that of the normal density as well.
__device__ inline float fast_gelu_slope(float v) {
  const float size = fminf(fabsf(v), 20.0f), power = fast_exp2(-0.72134752f * size * size);
  const float tail = fast_tail(size) * power;
  return (v > 0.0f ? 1.0f - tail : tail) + 0.39894228f * v * power;
}

/// gelu_tanh() as v / (1 + exp(-2 u)) with u = sqrt(2 / pi) (v + 0.044715 v^3), which nothing cancels: the
/// error is below 2^-21 |v| and below 2^-16 of the result. gelu_tanh(-inf) is 0.
struct FastGeluTanh {
  __device__ float operator()(float v) const {
    const float power = fast_exp2(v * (-2.3022082f - 0.1029432f * v * v));
    return max_or_nan(v, -20.0f) * fast_reciprocal(1.0f + power);
  }
};

}  // namespace DEVICE
