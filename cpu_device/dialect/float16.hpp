/// \file
/// The two 16-bit floating-point types of CUDA, as one template: half.hpp and bfloat16.hpp name them. Results
/// are rounded once and equal those of a GPU of compute capability 9.0 to the bit. Subnormals are kept,
/// values that are too large become infinity, and every NaN that arithmetic makes is 0x7fff, which NVIDIA's
/// PTX manual calls the canonical NaN.
///
/// All arithmetic is done in double and rounded to 16 bits at the end. The significand has p = 11 bits (half)
/// or 8 (bfloat16). The first rounding, to 53 bits, does no harm because:
/// - A product of two numbers has at most 2p = 22 bits and an exponent within double's range: it is exact.
/// - A sum, of two numbers or of such a product and a number, may span more than 53 bits. It is rounded to
///   odd: when not exact, to the one of the two neighbours whose last bit is 1. That bit stands for
///   everything that was cut off. So a second rounding to at most 53 - 2 bits, in any direction, still sees
///   on which side of its own midpoints and values the exact sum is (S. Boldo and G. Melquiond, Emulation of
///   a FMA and correctly rounded sums: proved algorithms using rounding to odd, IEEE Transactions on
///   Computers 57, 2008).
/// - A quotient x / y could only go wrong near a midpoint m, of at most p + 1 bits. If x differs from m * y,
/// it
///   does so by a unit in the last place of either, at least 2^-(2p + 1) = 2^-23 of it; a double is off by
///   2^-53 of it. A square root near a midpoint likewise: its square differs from m * m by at least 2^-24.
#pragma once

#include <math.h>

#include "cpu_device/dialect/math.hpp"
#include "cpu_device/dialect/vector_types.hpp"

namespace cpu {
namespace detail {

enum class Rounding { kNearestEven, kToZero, kDown, kUp };

/// 5 bits of exponent, 10 of fraction.
struct HalfFormat {
  static constexpr int kFractionBits = 10;
  static constexpr int kLeastExponent = -14;  ///< of a number that is not subnormal
  static constexpr unsigned kInfinity = 0x7c00;

  [[gnu::always_inline]] static float widen(unsigned bits) {
    const unsigned sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude > kInfinity) return __uint_as_float(0x7fffffffu);
    if (magnitude == kInfinity) return __uint_as_float(sign | 0x7f800000u);
    // The same fields in float's places, then the difference of the two exponent biases, 127 - 15.
    return __uint_as_float(sign | magnitude << 13) * 0x1p112f;
  }
};

/// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct Bfloat16Format {
  static constexpr int kFractionBits = 7;
  static constexpr int kLeastExponent = -126;
  static constexpr unsigned kInfinity = 0x7f80;

  [[gnu::always_inline]] static float widen(unsigned bits) { return __uint_as_float(bits << 16); }
};

constexpr unsigned short kCanonicalNan = 0x7fff;

/// The bits of `value` rounded to `Format`.
template <class Format, Rounding kRounding = Rounding::kNearestEven>
[[gnu::always_inline]] inline unsigned short narrow(double value) {
  using Bits = unsigned long long;
  constexpr Bits kHidden = 1ull << 52;  // the leading 1 of a double, which its bits leave out
  const Bits bits = __builtin_bit_cast(Bits, value), magnitude = bits & ~(1ull << 63);
  const unsigned sign = static_cast<unsigned>(bits >> 48) & 0x8000u;
  if (value != value) return kCanonicalNan;
  if (magnitude == 0x7ffull << 52) return static_cast<unsigned short>(sign | Format::kInfinity);

  // A subnormal double is read as a slightly larger number: it is far too small to matter.
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const int least = Format::kLeastExponent, kept_exponent = exponent > least ? exponent : least;
  const int wanted_shift = 52 - Format::kFractionBits + (kept_exponent - exponent);
  const int shift = wanted_shift < 63 ? wanted_shift : 63;
  const Bits significand = magnitude == 0 ? 0 : (magnitude & (kHidden - 1)) | kHidden;
  const Bits cut = significand & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
  Bits kept = significand >> shift;

  if (kRounding == Rounding::kNearestEven) kept += cut > middle || (cut == middle && (kept & 1));
  if (kRounding == Rounding::kDown) kept += cut && sign;
  if (kRounding == Rounding::kUp) kept += cut && !sign;

  // The leading 1 of `kept` adds the last 1 to the exponent's field; so does a carry.
  const Bits rounded = (static_cast<Bits>(kept_exponent - least) << Format::kFractionBits) + kept;
  if (rounded < Format::kInfinity) return static_cast<unsigned short>(sign | rounded);
  const bool stays_finite = kRounding == Rounding::kToZero || (kRounding == Rounding::kDown && !sign) ||
                            (kRounding == Rounding::kUp && sign);
  return static_cast<unsigned short>(sign | (Format::kInfinity - stays_finite));
}

/// a + b, rounded to odd.
[[gnu::always_inline]] inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  // The rounding error of the sum, exactly (D. Knuth, The Art of Computer Programming, volume 2,
  // section 4.2.2).
  const double b_in_sum = sum - a, left_out = (a - (sum - b_in_sum)) + (b - b_in_sum);
  const auto bits = __builtin_bit_cast(unsigned long long, sum);
  const bool exact = left_out == 0 || left_out != left_out;  // NaN: the sum is NaN or infinite
  if (exact || (bits & 1)) return sum;
  return __builtin_bit_cast(double, (left_out > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace detail

// The operations are friends of the types, so they are found if one argument has the type; the others convert
// to it as in CUDA. Names without an explanation are CUDA's.

/// One 16-bit number: `__half` or `__nv_bfloat16`.
template <class Format>
class Float16 {
 public:
  Float16() = default;
  [[gnu::always_inline]] Float16(float value) : bits_(detail::narrow<Format>(value)) {}
  [[gnu::always_inline]] Float16(double value) : bits_(detail::narrow<Format>(value)) {}
  [[gnu::always_inline]] Float16(int value) : bits_(detail::narrow<Format>(value)) {}
  [[gnu::always_inline]] Float16(unsigned value) : bits_(detail::narrow<Format>(value)) {}
  template <class Other>
  [[gnu::always_inline]] explicit Float16(Float16<Other> value) : Float16(static_cast<float>(value)) {}

  [[gnu::always_inline]] operator float() const { return Format::widen(bits_); }
  [[gnu::always_inline]] operator int() const { return __float2int_rz(*this); }
  [[gnu::always_inline]] operator unsigned() const { return __float2uint_rz(*this); }
  [[gnu::always_inline]] operator signed char() const {
    return static_cast<signed char>(clamp(__float2int_rz(*this), -128, 127));
  }
  [[gnu::always_inline]] operator unsigned char() const {
    return static_cast<unsigned char>(clamp(__float2int_rz(*this), 0, 255));
  }
  [[gnu::always_inline]] operator bool() const { return (bits_ & 0x7fff) != 0; }

  [[gnu::always_inline]] static Float16 from_bits(unsigned bits) {
    Float16 number;
    number.bits_ = static_cast<unsigned short>(bits);
    return number;
  }
  /// The upper bits of a NaN, made quiet.
  [[gnu::always_inline]] static Float16 quiet_nan(double nan) {
    const auto bits = __builtin_bit_cast(unsigned long long, nan);
    const unsigned fraction = static_cast<unsigned>(bits >> (52 - Format::kFractionBits));
    const unsigned quiet = 1u << (Format::kFractionBits - 1);
    return from_bits((bits >> 48 & 0x8000u) | Format::kInfinity | quiet | (fraction & (2 * quiet - 1)));
  }
  [[gnu::always_inline]] unsigned short bits() const { return bits_; }
  /// `value` rounded in a direction.
  template <detail::Rounding kRounding>
  [[gnu::always_inline]] static Float16 rounded(double value) {
    return from_bits(detail::narrow<Format, kRounding>(value));
  }

  [[gnu::always_inline]] friend Float16 __hadd(Float16 a, Float16 b) {
    return Float16(detail::add_to_odd(a.exact(), b.exact()));
  }
  [[gnu::always_inline]] friend Float16 __hsub(Float16 a, Float16 b) {
    return Float16(detail::add_to_odd(a.exact(), -b.exact()));
  }
  [[gnu::always_inline]] friend Float16 __hmul(Float16 a, Float16 b) {
    return Float16(a.exact() * b.exact());
  }
  [[gnu::always_inline]] friend Float16 __hdiv(Float16 a, Float16 b) {
    return Float16(a.exact() / b.exact());
  }
  /// a * b + c with one rounding.
  [[gnu::always_inline]] friend Float16 __hfma(Float16 a, Float16 b, Float16 c) {
    return Float16(detail::add_to_odd(a.exact() * b.exact(), c.exact()));
  }
  /// The same, but 0 where the result is negative.
  [[gnu::always_inline]] friend Float16 __hfma_relu(Float16 a, Float16 b, Float16 c) {
    const Float16 sum = __hfma(a, b, c);
    return sum.bits_ & 0x8000 ? from_bits(0) : sum;
  }
  // nvcc may fuse a __hmul and a __hadd into one __hfma, but not these.
  [[gnu::always_inline]] friend Float16 __hadd_rn(Float16 a, Float16 b) { return __hadd(a, b); }
  [[gnu::always_inline]] friend Float16 __hsub_rn(Float16 a, Float16 b) { return __hsub(a, b); }
  [[gnu::always_inline]] friend Float16 __hmul_rn(Float16 a, Float16 b) { return __hmul(a, b); }

  [[gnu::always_inline]] friend Float16 __hneg(Float16 a) {
    return __hisnan(a) ? from_bits(detail::kCanonicalNan) : from_bits(a.bits_ ^ 0x8000u);
  }
  [[gnu::always_inline]] friend Float16 __habs(Float16 a) {
    return __hisnan(a) ? from_bits(detail::kCanonicalNan) : from_bits(a.bits_ & 0x7fffu);
  }
  // If one operand is NaN, the result is the other; -0 is less than +0.
  [[gnu::always_inline]] friend Float16 __hmax(Float16 a, Float16 b) {
    if (__hisnan(a)) return canonical(b);
    if (__hisnan(b)) return a;
    if (__heq(a, b)) return from_bits(a.bits_ & b.bits_);
    return __hgt(a, b) ? a : b;
  }
  [[gnu::always_inline]] friend Float16 __hmin(Float16 a, Float16 b) {
    if (__hisnan(a)) return canonical(b);
    if (__hisnan(b)) return a;
    if (__heq(a, b)) return from_bits(a.bits_ | b.bits_);
    return __hlt(a, b) ? a : b;
  }
  // The same, but NaN if one operand is.
  [[gnu::always_inline]] friend Float16 __hmax_nan(Float16 a, Float16 b) {
    return __hisnan(a) || __hisnan(b) ? from_bits(detail::kCanonicalNan) : __hmax(a, b);
  }
  [[gnu::always_inline]] friend Float16 __hmin_nan(Float16 a, Float16 b) {
    return __hisnan(a) || __hisnan(b) ? from_bits(detail::kCanonicalNan) : __hmin(a, b);
  }

  // False when an operand is NaN, __hne too.
  [[gnu::always_inline]] friend bool __heq(Float16 a, Float16 b) { return a.wide() == b.wide(); }
  [[gnu::always_inline]] friend bool __hne(Float16 a, Float16 b) {
    return a.wide() < b.wide() || a.wide() > b.wide();
  }
  [[gnu::always_inline]] friend bool __hlt(Float16 a, Float16 b) { return a.wide() < b.wide(); }
  [[gnu::always_inline]] friend bool __hle(Float16 a, Float16 b) { return a.wide() <= b.wide(); }
  [[gnu::always_inline]] friend bool __hgt(Float16 a, Float16 b) { return a.wide() > b.wide(); }
  [[gnu::always_inline]] friend bool __hge(Float16 a, Float16 b) { return a.wide() >= b.wide(); }
  [[gnu::always_inline]] friend bool __hisnan(Float16 a) { return (a.bits_ & 0x7fff) > Format::kInfinity; }
  /// 1 for infinity, -1 for minus infinity, else 0.
  [[gnu::always_inline]] friend int __hisinf(Float16 a) {
    if ((a.bits_ & 0x7fff) != Format::kInfinity) return 0;
    return a.bits_ & 0x8000 ? -1 : 1;
  }

  // Rounded from double here; a GPU's may differ by one unit in the last place.
  [[gnu::always_inline]] friend Float16 hsqrt(Float16 a) { return Float16(sqrt(a.exact())); }
  [[gnu::always_inline]] friend Float16 hrsqrt(Float16 a) { return Float16(1.0 / sqrt(a.exact())); }
  [[gnu::always_inline]] friend Float16 hrcp(Float16 a) { return Float16(1.0 / a.exact()); }
  [[gnu::always_inline]] friend Float16 hexp(Float16 a) { return Float16(exp(a.exact())); }
  [[gnu::always_inline]] friend Float16 hexp2(Float16 a) { return Float16(exp2(a.exact())); }
  [[gnu::always_inline]] friend Float16 hlog(Float16 a) { return Float16(log(a.exact())); }
  [[gnu::always_inline]] friend Float16 hlog2(Float16 a) { return Float16(log2(a.exact())); }
  [[gnu::always_inline]] friend Float16 htanh(Float16 a) { return Float16(tanh(a.exact())); }

  // To whole numbers: to even, down, up, to zero.
  [[gnu::always_inline]] friend Float16 hrint(Float16 a) { return Float16(rintf(a)); }
  [[gnu::always_inline]] friend Float16 hfloor(Float16 a) { return Float16(floorf(a)); }
  [[gnu::always_inline]] friend Float16 hceil(Float16 a) { return Float16(ceilf(a)); }
  [[gnu::always_inline]] friend Float16 htrunc(Float16 a) { return Float16(truncf(a)); }

  [[gnu::always_inline]] friend Float16 operator+(Float16 a, Float16 b) { return __hadd(a, b); }
  [[gnu::always_inline]] friend Float16 operator-(Float16 a, Float16 b) { return __hsub(a, b); }
  [[gnu::always_inline]] friend Float16 operator*(Float16 a, Float16 b) { return __hmul(a, b); }
  [[gnu::always_inline]] friend Float16 operator/(Float16 a, Float16 b) { return __hdiv(a, b); }
  [[gnu::always_inline]] friend Float16 operator-(Float16 a) { return __hneg(a); }
  [[gnu::always_inline]] friend Float16 operator+(Float16 a) { return a; }
  [[gnu::always_inline]] friend Float16& operator+=(Float16& a, Float16 b) { return a = a + b; }
  [[gnu::always_inline]] friend Float16& operator-=(Float16& a, Float16 b) { return a = a - b; }
  [[gnu::always_inline]] friend Float16& operator*=(Float16& a, Float16 b) { return a = a * b; }
  [[gnu::always_inline]] friend Float16& operator/=(Float16& a, Float16 b) { return a = a / b; }
  [[gnu::always_inline]] friend bool operator==(Float16 a, Float16 b) { return __heq(a, b); }
  [[gnu::always_inline]] friend bool operator!=(Float16 a, Float16 b) { return !__heq(a, b); }
  [[gnu::always_inline]] friend bool operator<(Float16 a, Float16 b) { return __hlt(a, b); }
  [[gnu::always_inline]] friend bool operator<=(Float16 a, Float16 b) { return __hle(a, b); }
  [[gnu::always_inline]] friend bool operator>(Float16 a, Float16 b) { return __hgt(a, b); }
  [[gnu::always_inline]] friend bool operator>=(Float16 a, Float16 b) { return __hge(a, b); }

 private:
  [[gnu::always_inline]] float wide() const { return Format::widen(bits_); }
  [[gnu::always_inline]] double exact() const { return Format::widen(bits_); }
  [[gnu::always_inline]] static Float16 canonical(Float16 a) {
    return __hisnan(a) ? from_bits(detail::kCanonicalNan) : a;
  }
  [[gnu::always_inline]] static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
  }

  unsigned short bits_;
};

/// Two of them in the 4 bytes that a GPU moves at once: `__half2` or `__nv_bfloat162`.
template <class Format>
struct alignas(4) Float16x2 {
  using Number = Float16<Format>;
  Number x, y;

  Float16x2() = default;
  [[gnu::always_inline]] Float16x2(Number x, Number y) : x(x), y(y) {}
  [[gnu::always_inline]] Float16x2(const Float16x2& other) { detail::copy_whole(this, &other); }
  [[gnu::always_inline]] Float16x2& operator=(const Float16x2& other) {
    detail::copy_whole(this, &other);
    return *this;
  }

  [[gnu::always_inline]] static Float16x2 from_bits(unsigned bits) {
    return {Number::from_bits(bits), Number::from_bits(bits >> 16)};
  }
  [[gnu::always_inline]] unsigned bits() const { return x.bits() | static_cast<unsigned>(y.bits()) << 16; }

// Each applies the function of one number to both numbers.
#define WORKBOOK_UNARY(name, of_one) \
  [[gnu::always_inline]] friend Float16x2 name(Float16x2 a) { return {of_one(a.x), of_one(a.y)}; }
#define WORKBOOK_BINARY(name, of_one)                                      \
  [[gnu::always_inline]] friend Float16x2 name(Float16x2 a, Float16x2 b) { \
    return {Number(of_one(a.x, b.x)), Number(of_one(a.y, b.y))};           \
  }
#define WORKBOOK_TERNARY(name, of_one)                                                  \
  [[gnu::always_inline]] friend Float16x2 name(Float16x2 a, Float16x2 b, Float16x2 c) { \
    return {of_one(a.x, b.x, c.x), of_one(a.y, b.y, c.y)};                              \
  }
#define WORKBOOK_BOTH(name, of_one)                                   \
  [[gnu::always_inline]] friend bool name(Float16x2 a, Float16x2 b) { \
    return of_one(a.x, b.x) && of_one(a.y, b.y);                      \
  }
  WORKBOOK_BINARY(__hadd2, __hadd)
  WORKBOOK_BINARY(__hsub2, __hsub)
  WORKBOOK_BINARY(__hmul2, __hmul)
  WORKBOOK_BINARY(__h2div, __hdiv)
  WORKBOOK_BINARY(__hadd2_rn, __hadd)
  WORKBOOK_BINARY(__hsub2_rn, __hsub)
  WORKBOOK_BINARY(__hmul2_rn, __hmul)
  WORKBOOK_TERNARY(__hfma2, __hfma)
  WORKBOOK_TERNARY(__hfma2_relu, __hfma_relu)
  WORKBOOK_UNARY(__hneg2, __hneg)
  WORKBOOK_UNARY(__habs2, __habs)
  WORKBOOK_BINARY(__hmax2, __hmax)
  WORKBOOK_BINARY(__hmax2_nan, __hmax_nan)
  WORKBOOK_BINARY(__hmin2_nan, __hmin_nan)
  WORKBOOK_BINARY(__hmin2, __hmin)
  WORKBOOK_UNARY(h2sqrt, hsqrt)
  WORKBOOK_UNARY(h2rsqrt, hrsqrt)
  WORKBOOK_UNARY(h2rcp, hrcp)
  WORKBOOK_UNARY(h2exp, hexp)
  WORKBOOK_UNARY(h2exp2, hexp2)
  WORKBOOK_UNARY(h2log, hlog)
  WORKBOOK_UNARY(h2log2, hlog2)
  WORKBOOK_UNARY(h2tanh, htanh)
  WORKBOOK_UNARY(h2rint, hrint)
  WORKBOOK_UNARY(h2floor, hfloor)
  WORKBOOK_UNARY(h2ceil, hceil)
  WORKBOOK_UNARY(h2trunc, htrunc)

  // Comparisons: 1 or 0 for each of the two, or whether it holds for both.
  WORKBOOK_BINARY(__heq2, __heq)
  WORKBOOK_BINARY(__hne2, __hne)
  WORKBOOK_BINARY(__hlt2, __hlt)
  WORKBOOK_BINARY(__hle2, __hle)
  WORKBOOK_BINARY(__hgt2, __hgt)
  WORKBOOK_BINARY(__hge2, __hge)
  WORKBOOK_BOTH(__hbeq2, __heq)
  WORKBOOK_BOTH(__hbne2, __hne)
  WORKBOOK_BOTH(__hblt2, __hlt)
  WORKBOOK_BOTH(__hble2, __hle)
  WORKBOOK_BOTH(__hbgt2, __hgt)
  WORKBOOK_BOTH(__hbge2, __hge)
  [[gnu::always_inline]] friend Float16x2 __hisnan2(Float16x2 a) {
    return {Number(static_cast<int>(__hisnan(a.x))), Number(static_cast<int>(__hisnan(a.y)))};
  }

  WORKBOOK_BINARY(operator+, __hadd)
  WORKBOOK_BINARY(operator-, __hsub)
  WORKBOOK_BINARY(operator*, __hmul)
  WORKBOOK_BINARY(operator/, __hdiv)
  WORKBOOK_UNARY(operator-, __hneg)
  WORKBOOK_BOTH(operator==, __heq)
  WORKBOOK_BOTH(operator<, __hlt)
  WORKBOOK_BOTH(operator<=, __hle)
  WORKBOOK_BOTH(operator>, __hgt)
  WORKBOOK_BOTH(operator>=, __hge)
#undef WORKBOOK_UNARY
#undef WORKBOOK_BINARY
#undef WORKBOOK_TERNARY
#undef WORKBOOK_BOTH
  /// Whether both differ; a NaN differs from everything.
  [[gnu::always_inline]] friend bool operator!=(Float16x2 a, Float16x2 b) { return a.x != b.x && a.y != b.y; }
  [[gnu::always_inline]] friend Float16x2& operator+=(Float16x2& a, Float16x2 b) { return a = a + b; }
  [[gnu::always_inline]] friend Float16x2& operator-=(Float16x2& a, Float16x2 b) { return a = a - b; }
  [[gnu::always_inline]] friend Float16x2& operator*=(Float16x2& a, Float16x2 b) { return a = a * b; }
  [[gnu::always_inline]] friend Float16x2& operator/=(Float16x2& a, Float16x2 b) { return a = a / b; }

  [[gnu::always_inline]] friend float __low2float(Float16x2 a) { return a.x; }
  [[gnu::always_inline]] friend float __high2float(Float16x2 a) { return a.y; }
  [[gnu::always_inline]] friend Float16x2 __lowhigh2highlow(Float16x2 a) { return {a.y, a.x}; }
};

}  // namespace cpu
