/// \file
/// GELU and its slope in float32, for loops that the compiler turns into vector instructions.
///
/// The normal distribution at -t is 2^(t P(t) - 1), with a polynomial P of least greatest error on [0, 5.5]
/// (by Lawson's algorithm); beyond, where it is below 2e-8, it counts as 0. There is no 1 + erf(v / sqrt(2)),
/// whose digits cancel for negative v: GELU is off by at most 1.4 v 2^-24, and from -3 on by at most 10 units
/// in the last place, where the formula with glibc's erf loses up to all digits (test_operator_kernels.cpp).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace workbook_ops {

/// first + x second + x^2 third + ..., by recursion: the compiler does not vectorise around a loop.
inline float polynomial(float, float last) { return last; }
template <class... Floats>
inline float polynomial(float x, float first, Floats... others) {
  return std::fma(x, polynomial(x, others...), first);
}

/// 2^x for x from -126 to 0, as long as `one` is the bits of 1.0f; with those of 0.5f, half of it.
inline float power_of_two(float x, std::int32_t one = 0x3f800000) {
  const float shifted = x + 0x1.8p23f;  // its last bits are x, rounded to an integer
  const auto exponent = std::bit_cast<std::int32_t>(shifted) << 23;
  return std::bit_cast<float>(exponent + one) * polynomial(x - (shifted - 0x1.8p23f), 1.0f, 0.693147182f,
                                                           0.240226462f, 0.0555032864f, 0.00961848907f,
                                                           0.00133999309f, 0.00015345811f);
}

constexpr float kTail = 5.5f;

/// |v|, and at most `most`; a NaN stays one.
inline float size_up_to(float most, float v) {
  const float size = std::fabs(v);
  return size > most ? most : size;
}

/// The normal distribution at -size, for a size that is 0 to kTail.
inline float lower_tail(float size) {
  const float exponent = size * polynomial(size, -1.15110743f, -0.459192097f, -0.0525277294f, 0.00707061496f,
                                           -9.71222325e-05f, -0.000234929408f, 6.4083637e-05f,
                                           -8.95014546e-06f, 6.80576534e-07f, -2.22601084e-08f);
  return power_of_two(exponent, 0x3f000000);
}

inline float cpu_gelu(float v) {
  const float size = size_up_to(kTail, v);
  const float tail = std::fabs(v) > kTail ? 0.0f : lower_tail(size);
  return v < 0 ? -size * tail : std::fma(-size, tail, v);
}

inline float cpu_gelu_slope(float v) {
  const float size = size_up_to(kTail, v);
  const float far = std::fabs(v) > 13.0f ? 0.0f : std::fabs(v);  // there the density is below 1e-37
  const float tail = std::fabs(v) > kTail ? 0.0f : lower_tail(size);
  const float density = 0.398942280f * power_of_two(far * far * -0.721347520f);
  return (v < 0 ? tail : 1.0f - tail) + std::copysign(far * density, v);
}

}  // namespace workbook_ops
