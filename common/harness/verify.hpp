/// \file
/// Comparison of a result with the double-precision reference.
#pragma once

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
  double allowed = 0;            ///< the bound on `error`, for the first wrong element if there is one
  long long first_wrong = -1;    ///< the first element whose error is more than allowed, or -1
  double got = 0, expected = 0;  ///< of that element
};

/// Compares results with the reference, element by element. float32 and float64 may be off by `roundings`
/// roundings of their own format. float16 and bfloat16 results are assumed to be computed in float32 and
/// rounded to the format once: a result is right if it is between the roundings of the lowest and of the
/// highest float32 value that `roundings` allow. Integers must be equal.
Comparison compare(const void* got, Type type, const Reference& reference, int roundings);

}  // namespace workbook
