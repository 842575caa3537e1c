/// \file
/// Comparison of a result with the double-precision reference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chapter.hpp"

namespace workbook {

/// The values that an output must have, and the size of the terms that they are computed from, which bounds
/// the rounding errors.
struct Reference {
  std::vector<double> expected;
  std::vector<double> magnitude;  ///< sum of the absolute values of the terms of each element
};

/// The result of a comparison.
struct Comparison {
  /// The largest |got - expected| / magnitude: the error in units that do not depend on the inputs' size.
  /// Infinite when an element is NaN and should not be, or the other way round.
  double error = 0;
  /// For float16 and bfloat16, the largest error in units of the last place (last_places()).
  std::optional<double> last_places;
  long long first_wrong = -1;  ///< the first element that is wrong, or -1
  // That element's numbers:
  double got = 0, expected = 0;
  double allowed = 0;              ///< the bound on |got - expected|
  double lowest = 0, highest = 0;  ///< the values that are right; for float16 and bfloat16, of the format
};

/// Compares results with the reference, element by element. float32 and float64 may be off by `roundings`
/// roundings of their own format. float16 and bfloat16 results are assumed to be computed in float32 and
/// rounded to the format once: a result is right if it is between the roundings of the lowest and of the
/// highest float32 value that `roundings` allow. Integers must be equal.
Comparison compare(const void* got, Type type, const Reference& reference, int roundings);

/// |got - expected| in units of the last place that a float16 or bfloat16 of the expected value's size has; 0
/// where both are NaN or `got` is `expected` rounded to the type, infinite where only one of them is finite.
/// Where terms cancel, a result that was computed in float32 has fewer digits than its size suggests: the
/// unit is never less than 2^-20 of `magnitude`, which is 16 float32 roundings.
double last_places(double got, double expected, double magnitude, Type type);

/// The message about the first wrong element of a comparison, such as "is 1.5, expected 1.25 (off by 0.25,
/// allowed 7.5e-08)". Numbers have no more digits than the type, but enough to tell them apart.
std::string wrong_value_text(const Comparison& comparison, Type type);

/// An element of that type as text, in at most 9 digits.
std::string value_text(const void* element, Type type);

}  // namespace workbook
