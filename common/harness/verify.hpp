/// \file
/// Is a result right? Comparison with the double-precision reference.
#pragma once

#include <string>
#include <vector>

#include "chapter.hpp"

namespace workbook {

/// The values that an output must have, and how large the terms are that rounding errors come from.
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

/// The largest relative error of `roundings` roundings in a row: k*u / (1 - k*u), where u is 2^-24 for
/// float32 (N. Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1).
double rounding_bound(int roundings, double u = 0x1p-24);

/// The element of that type at `element`.
double number_at(const void* element, Type type);

/// `value` rounded to the nearest that a float16 or a bfloat16 can hold, ties to even; beyond the largest,
/// infinity.
double rounded_to(Type type, double value);

/// Compares results with the reference, element by element. float32 and float64 may be off by `roundings`
/// roundings of their own format. float16 and bfloat16 are taken for float32 arithmetic that is rounded to
/// the format once: a result is right when it lies between what the lowest and the highest float32 result
/// that `roundings` allow round to. Integers must be equal.
Comparison compare(const void* got, Type type, const Reference& reference, int roundings);

}  // namespace workbook
