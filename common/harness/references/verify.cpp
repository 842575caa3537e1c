#include "harness/references/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace workbook {
namespace {

double element_error(double got, double expected, double magnitude) {
  if (std::isnan(got) && std::isnan(expected)) return 0;
  if (got == expected) return 0;  // also equal infinities
  if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
  const double difference = std::fabs(got - expected);
  return magnitude > 0 ? difference / magnitude : std::numeric_limits<double>::infinity();
}

template <class T>
T value_at(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

double from_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  double size = 0;
  if (exponent == 0x1f)
    size = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    size = std::ldexp(fraction, -24);
  else
    size = std::ldexp(fraction + 0x400, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

/// The largest relative error of `roundings` roundings in a row: k*u / (1 - k*u), where u is 2^-24 for
/// float32 (N. Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1).
double rounding_bound(int roundings, double u) {
  const double ku = roundings * u;
  return ku / (1 - ku);
}

/// The last place of a float16 or a bfloat16 of that size: a power of two. It reads the bits of the double,
/// to be fast: it is called for every element of every result.
double last_place_of(Type type, double value) {
  const bool half = type == Type::kFloat16;
  constexpr int kBias = 1023, kFractionBits = 52;
  const int fraction_bits = half ? 10 : 7;
  const int lowest = half ? -24 : -133;  // of the subnormal numbers
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kFractionBits & 0x7ff) - kBias;
  const int last = std::max(exponent - fraction_bits, lowest);
  return std::bit_cast<double>(static_cast<std::uint64_t>(last + kBias) << kFractionBits);
}

/// `value` rounded to the nearest value of a float16 or a bfloat16, ties to even; infinity beyond the
/// largest.
double rounded_to(Type type, double value) {
  constexpr double kLosesFraction = 0x1.8p52;  // added to a smaller number, it rounds that to a whole one
  const double largest = type == Type::kFloat16 ? 65504 : 0x1.fep127;
  if (value == 0 || !std::isfinite(value)) return value;
  const double last_place = last_place_of(type, value);
  if (std::fabs(value) >= 2 * largest) return std::copysign(std::numeric_limits<double>::infinity(), value);
  const double rounded = (value / last_place + kLosesFraction - kLosesFraction) * last_place;
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                      : std::copysign(rounded, value);
}

double number_at(const void* element, Type type) {
  switch (type) {
    case Type::kFloat32:
      return value_at<float>(element);
    case Type::kFloat64:
      return value_at<double>(element);
    case Type::kFloat16:
      return from_float16(value_at<std::uint16_t>(element));
    case Type::kBFloat16:
      return std::bit_cast<float>(std::uint32_t{value_at<std::uint16_t>(element)} << 16);
    case Type::kInt8:
      return value_at<std::int8_t>(element);
    case Type::kUint32:
      return value_at<std::uint32_t>(element);
  }
  throw std::logic_error("a type that nothing reads");
}

constexpr int kDigitsOfDouble = 17;

/// Decimal digits that tell any two values of the type apart.
int digits_of(Type type) {
  switch (type) {
    case Type::kFloat32:
      return 9;
    case Type::kFloat16:
      return 5;
    case Type::kBFloat16:
      return 4;
    case Type::kFloat64:
    case Type::kInt8:
    case Type::kUint32:
      return kDigitsOfDouble;
  }
  throw std::logic_error("a type without digits");
}

std::string number_text(double number, int digits) {
  return std::isnan(number) ? "NaN" : fmt::format("{:.{}g}", number, digits);
}

}  // namespace

double last_places(double got, double expected, double magnitude, Type type) {
  if (std::isnan(got) && std::isnan(expected)) return 0;
  if (!std::isfinite(got) && got == rounded_to(type, expected)) return 0;
  if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
  const double unit = std::max(last_place_of(type, expected), 0x1p-20 * magnitude);
  return std::fabs(got - expected) / unit;
}

namespace {

/// compare() for elements `begin` to `end`.
Comparison compare_part(const void* got, Type type, const Reference& reference, int roundings,
                        std::size_t begin, std::size_t end) {
  const bool rounded = type == Type::kFloat16 || type == Type::kBFloat16;
  const double bound =
      is_integer(type) ? 0 : rounding_bound(roundings, type == Type::kFloat64 ? 0x1p-53 : 0x1p-24);
  const auto* bytes = static_cast<const std::byte*>(got);
  Comparison result;
  if (rounded) result.last_places = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double value = number_at(bytes + i * static_cast<std::size_t>(element_bytes(type)), type);
    const double expected = reference.expected[i], magnitude = reference.magnitude[i];
    const double error = element_error(value, expected, magnitude);
    // Comparisons with NaN are false, so that a NaN counts as wrong.
    double lowest = expected - bound * magnitude, highest = expected + bound * magnitude;
    if (rounded) lowest = rounded_to(type, lowest), highest = rounded_to(type, highest);
    const bool right =
        error <= bound || (rounded && std::isfinite(expected) && value >= lowest && value <= highest);
    // A right infinity beyond the largest value of the format does not count as an error.
    if (error > result.error && !(rounded && right && std::isinf(value))) result.error = error;
    if (rounded)
      result.last_places = std::max(*result.last_places, last_places(value, expected, magnitude, type));
    if (right || result.first_wrong >= 0) continue;
    result.first_wrong = static_cast<long long>(i);
    result.got = value;
    result.expected = expected;
    result.allowed = bound * magnitude;
    result.lowest = lowest;
    result.highest = highest;
  }
  return result;
}

}  // namespace

Comparison compare(const void* got, Type type, const Reference& reference, int roundings) {
  constexpr std::size_t kPart = 1 << 16;
  const std::size_t count = reference.expected.size();
  std::vector<Comparison> parts((count + kPart - 1) / kPart);
  on_all_cores(static_cast<long long>(parts.size()), [&](long long part) {
    const std::size_t begin = static_cast<std::size_t>(part) * kPart;
    parts[static_cast<std::size_t>(part)] =
        compare_part(got, type, reference, roundings, begin, std::min(begin + kPart, count));
  });
  Comparison whole = compare_part(got, type, reference, roundings, 0, 0);
  for (const Comparison& part : parts) {
    const double error = std::max(whole.error, part.error);
    const std::optional<double> places = std::max(whole.last_places, part.last_places);
    if (whole.first_wrong < 0) whole = part;
    whole.error = error;
    whole.last_places = places;
  }
  return whole;
}

std::string wrong_value_text(const Comparison& comparison, Type type) {
  const double got = comparison.got, expected = comparison.expected;
  const int digits = digits_of(type);
  if (!std::isfinite(got) || !std::isfinite(expected) || is_integer(type))
    return fmt::format("is {}, expected {}", number_text(got, digits), number_text(expected, digits));
  // A result in 16 bits was rounded to them: the values that are right say more than an error.
  if (type == Type::kFloat16 || type == Type::kBFloat16) {
    const std::string low = number_text(comparison.lowest, digits),
                      high = number_text(comparison.highest, digits);
    return fmt::format("is {}, expected {} (as {})", number_text(got, digits),
                       low == high ? low : fmt::format("{} to {}", low, high),
                       type == Type::kFloat16 ? "float16" : "bfloat16");
  }
  // Shorter where that tells the two apart.
  std::string is, should_be;
  for (int few = std::min(9, digits); is == should_be && few <= kDigitsOfDouble; ++few) {
    is = number_text(got, few);
    should_be = number_text(expected, few);
  }
  return fmt::format("is {}, expected {} (off by {:.2g}, allowed {:.2g})", is, should_be,
                     std::fabs(got - expected), comparison.allowed);
}

std::string value_text(const void* element, Type type) {
  return number_text(number_at(element, type), std::min(9, digits_of(type)));
}

}  // namespace workbook
