/// \file
/// erf in float32 for loops that the compiler turns into vector instructions.
///
/// Up to 1, erf(x) = x + x P(x^2); beyond, 1 - 2^Q(|x|), where Q stands for log2(erfc). W. J. Cody (Rational
/// Chebyshev approximation for the error function, 1969) divides the line in this way too. The coefficients
/// of the polynomials of least greatest error are from Lawson's algorithm. Over all floats it is at most 1.22
/// units in the last place off, and at most one from glibc's erff, which is 0.97 off
/// (test_operator_kernels.cpp).
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

/// 2^x for x from -126 to 0.
inline float power_of_two(float x) {
  const float shifted = x + 0x1.8p23f;  // its last bits are x, rounded to an integer
  const auto exponent = std::bit_cast<std::int32_t>(shifted) << 23;
  return std::bit_cast<float>(exponent + 0x3f800000) *
         polynomial(x - (shifted - 0x1.8p23f), 1.0f, 0.693147182f, 0.240226462f, 0.0555032864f,
                    0.00961848907f, 0.00133999309f, 0.00015345811f);
}

inline float fast_erf(float x) {
  const float size = std::fabs(x);
  const float bounded = size > 3.95f ? 3.95f : size;  // beyond it erf is 1
  const float logarithm = polynomial(bounded, -0.000479974202f, -1.62609398f, -0.920574427f, -0.148811027f,
                                     0.0315319784f, -0.00425865408f, 0.000269461831f);
  const float large = std::copysign(1.0f - power_of_two(logarithm), x);
  const float part = polynomial(x * x, 0.128379166f, -0.37612626f, 0.112836003f, -0.0268544443f,
                                0.00518953567f, -0.000802084222f, 7.88912294e-05f);
  return size < 1.0f ? std::fma(x, part, x) : large;
}

}  // namespace workbook_ops
