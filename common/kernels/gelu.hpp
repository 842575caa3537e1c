/// \file
/// For kernels: GELU, exact and in its tanh form (D. Hendrycks, K. Gimpel, Gaussian error linear units,
/// 2016).
#pragma once
#include "device.hpp"

namespace DEVICE {

// [gelu]
/// 0.5 v (1 + erf(v / sqrt(2))).
__device__ inline float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }
// [gelu]

// [tanh]
/// 0.5 v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))): an approximation from the same paper. It is the form of
/// GELU that cuBLASLt's epilogue computes.
__device__ inline float gelu_tanh(float v) {
  return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}
// [tanh]

// [slopes]
/// The derivative of gelu() at v, for backward passes: F(v) + v f(v) with the normal distribution F and its
/// density f. At an infinity it is NaN, as PyTorch's is.
__device__ inline float gelu_slope(float v) {
  return 0.5f * (1.0f + erff(v * 0.70710678f)) + v * 0.39894228f * expf(-0.5f * v * v);
}

/// The derivative of gelu_tanh() at v.
__device__ inline float gelu_tanh_slope(float v) {
  const float t = tanhf(0.79788456f * (v + 0.044715f * v * v * v));
  return 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * 0.79788456f * (1.0f + 0.134145f * v * v);
}
// [slopes]

/// gelu() as a type, for kernels that take the form of GELU as a parameter. fast_gelu.gpu.cuh has faster
/// ones.
struct ExactGelu {
  __device__ float operator()(float v) const { return gelu(v); }
};

}  // namespace DEVICE
