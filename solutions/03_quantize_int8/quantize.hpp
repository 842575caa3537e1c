/// \file
/// Shared by the specifications of this chapter's exercises: inputs with ties, overflow and NaN, and the
/// reference.
#pragma once
#include <math.h>

#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {

constexpr float kScale = 0.1f, kZeroPoint = 2.0f;

/// Every eighth element is halfway between two steps, or nearly; every 61st is out of range.
inline void fill_for_int8(float* x, int n) {
  workbook::fill_uniform(x, n, -9.0f, 10.0f, 81);
  for (int i = 0; i < n; i += 8) x[i] = (static_cast<float>(i / 8 % 200) - 99.5f) * kScale;
  const float far[] = {1e30f, -1e30f, INFINITY, -INFINITY, NAN, 400.0f, -400.0f};
  for (int i = 60; i < n; i += 61) x[i] = far[i / 61 % 7];
}

/// In float32, as the operation is defined: a result must be equal.
inline float step_of(float x, float scale, float zero_point) {
  const float quotient = x / scale;
  const float rounded = rintf(quotient + zero_point);
  if (rounded != rounded) return 0.0f;
  return rounded < -128.0f ? -128.0f : rounded > 127.0f ? 127.0f : rounded;
}

}  // namespace DEVICE
