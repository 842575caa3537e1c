#include "verify.hpp"

#include <cmath>
#include <limits>

namespace workbook {
namespace {

double element_error(double got, double expected, double magnitude) {
  if (std::isnan(got) && std::isnan(expected)) return 0;
  if (got == expected) return 0;  // also equal infinities
  if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
  const double difference = std::fabs(got - expected);
  return magnitude > 0 ? difference / magnitude : std::numeric_limits<double>::infinity();
}

}  // namespace

double rounding_bound(int roundings) {
  const double ku = roundings * std::ldexp(1.0, -24);
  return ku / (1 - ku);
}

Comparison compare(const std::vector<float>& got, const Reference& reference, int roundings) {
  Comparison result;
  result.allowed = rounding_bound(roundings);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = element_error(got[i], reference.expected[i], reference.magnitude[i]);
    if (error > result.error) result.error = error;
    // Written so that a NaN error counts as wrong.
    if (!(error <= result.allowed) && result.first_wrong < 0) {
      result.first_wrong = static_cast<long long>(i);
      result.got = got[i];
      result.expected = reference.expected[i];
    }
  }
  return result;
}

}  // namespace workbook
