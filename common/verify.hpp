/// \file
/// Is a result right? Comparison with the double-precision reference.
#pragma once

#include <string>
#include <vector>

#include "chapter.hpp"

namespace workbook {

/// The values that an output must have, and how far float32 may be off.
struct Reference {
  std::vector<double> expected;
  std::vector<double> magnitude;  ///< sum of the absolute values of the terms of each element
};

struct Comparison {
  /// The largest |got - expected| / magnitude: the error in units that do not depend on the inputs' size.
  /// Infinite when an element is NaN and should not be, or the other way round.
  double error = 0;
  double allowed = 0;
  long long first_wrong = -1;    ///< the first element whose error is more than allowed, or -1
  double got = 0, expected = 0;  ///< of that element
};

/// The largest relative error of `roundings` float32 roundings in a row: k*u / (1 - k*u) with u = 2^-24 (N.
/// Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1).
double rounding_bound(int roundings);

/// Compares float32 results with the reference, element by element.
Comparison compare(const std::vector<float>& got, const Reference& reference, int roundings);

}  // namespace workbook
