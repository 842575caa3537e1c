/// \file
/// The dot product of references.
#pragma once

namespace workbook {

/// In float64 and in partial sums, so that the compiler can vectorise it, for wide vectors too where the
/// processor has them.
double dot(const double* a, const double* b, int n);
double dot(const float* a, const float* b, int n);

}  // namespace workbook
