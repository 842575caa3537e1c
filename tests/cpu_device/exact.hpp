/// \file
/// Numbers without rounding, for tests of arithmetic that rounds: an integer times a power of 2.
#pragma once

#include <cmath>
#include <cstdint>

struct Exact {
  __int128 integer = 0;
  int exponent = 0;

  static Exact of(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    Exact exact = {static_cast<__int128>(std::ldexp(fraction, 53)), exponent - 53};
    while (exact.integer != 0 && exact.integer % 2 == 0) {
      exact.integer /= 2;
      ++exact.exponent;
    }
    return exact;
  }
  /// The integer for a smaller exponent.
  __int128 at(int smaller) const { return integer * (static_cast<__int128>(1) << (exponent - smaller)); }
  bool negative() const { return integer < 0; }
  Exact magnitude() const { return {integer < 0 ? -integer : integer, exponent}; }
  /// Bits of the integer.
  int bits() const {
    int count = 0;
    for (__int128 rest = magnitude().integer; rest != 0; rest /= 2) ++count;
    return count;
  }
};

inline Exact operator*(const Exact& a, const Exact& b) {
  return {a.integer * b.integer, a.exponent + b.exponent};
}

/// Whether a + b, and their comparison, fit into the 127 bits that there are.
inline bool fits(const Exact& a, const Exact& b) {
  const int least = a.exponent < b.exponent ? a.exponent : b.exponent;
  return a.bits() + a.exponent - least < 125 && b.bits() + b.exponent - least < 125;
}
inline Exact operator+(const Exact& a, const Exact& b) {
  const int least = a.exponent < b.exponent ? a.exponent : b.exponent;
  return {a.at(least) + b.at(least), least};
}
/// -1, 0 or 1 as a < b, a == b or a > b.
inline int compare(const Exact& a, const Exact& b) {
  if (a.integer == 0) return b.integer == 0 ? 0 : b.negative() ? 1 : -1;
  if (b.integer == 0) return a.negative() ? -1 : 1;
  if (!fits(a, b)) {  // so far apart that the leading bits decide
    const bool a_is_larger = a.bits() + a.exponent > b.bits() + b.exponent;
    return (a_is_larger ? a.negative() : !b.negative()) ? -1 : 1;
  }
  const int least = a.exponent < b.exponent ? a.exponent : b.exponent;
  const __int128 left = a.at(least), right = b.at(least);
  return left < right ? -1 : left > right;
}

/// A 16-bit floating-point format, written independently for the tests.
struct Format16 {
  int fraction_bits;
  int bias;

  static Format16 half() { return {10, 15}; }
  static Format16 bfloat16() { return {7, 127}; }

  unsigned infinity() const { return 0x7fffu >> fraction_bits << fraction_bits; }
  bool is_nan(unsigned bits) const { return (bits & 0x7fff) > infinity(); }
  bool is_infinite(unsigned bits) const { return (bits & 0x7fff) == infinity(); }

  /// The value of the bits; those of infinity stand for the power of 2 after the largest number.
  double value(unsigned bits) const {
    const int field = static_cast<int>((bits & 0x7fff) >> fraction_bits);
    const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
    const int hidden = field == 0 ? 0 : 1 << fraction_bits, exponent = (field == 0 ? 1 : field) - bias;
    const double magnitude = std::ldexp(hidden + fraction, exponent - fraction_bits);
    return bits & 0x8000 ? -magnitude : magnitude;
  }
  double float_value(unsigned bits) const {
    if (is_nan(bits)) return NAN;
    if (is_infinite(bits)) return bits & 0x8000 ? -INFINITY : INFINITY;
    return value(bits);
  }

  /// Whether `bits` are numerator / denominator (positive) rounded to nearest, ties to even.
  bool is_nearest(unsigned bits, const Exact& numerator, const Exact& denominator) const {
    if (is_nan(bits)) return false;
    if (numerator.integer != 0 && numerator.negative() != (bits >= 0x8000)) return false;
    const unsigned magnitude = bits & 0x7fff;
    const Exact target = numerator.magnitude();
    const bool even = magnitude % 2 == 0;
    if (magnitude > 0) {
      const int below = compare(target, middle(magnitude - 1) * denominator);
      if (below < 0 || (below == 0 && !even)) return false;
    }
    if (magnitude == infinity()) return true;
    const int above = compare(target, middle(magnitude) * denominator);
    return above < 0 || (above == 0 && even);
  }
  bool is_nearest(unsigned bits, const Exact& value) const { return is_nearest(bits, value, {1, 0}); }

  /// Half way between the numbers of bits `magnitude` and `magnitude` + 1.
  Exact middle(unsigned magnitude) const { return Exact::of((value(magnitude) + value(magnitude + 1)) / 2); }
};
