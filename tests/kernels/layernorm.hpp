/// \file
/// Chapter 04's y = layernorm(relu(x)) and sums with the mistakes that its check must notice, and without.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// A kernel's mistake.
enum class LayernormMistake {
  kNone,
  kDividesByOneLess,    ///< the variance is divided by columns - 1
  kLastNotInMean,       ///< the last element of a row is left out of the mean
  kLastNotInSquares,    ///< ... of the squared distances
  kLastFourNotCounted,  ///< the last four of a row are left out of both, and of the count
  kNoEpsilon,
  kMeanOfSquares,  ///< the variance is the mean of the squares minus the square of the mean
};

/// One block per row of float32 or of bfloat16.
void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows, int columns,
               LayernormMistake mistake);
void layernorm_bfloat16(const void* x, const void* weight, const void* bias, void* y, int rows, int columns,
                        LayernormMistake mistake);

/// Sets elements first, first + apart and so on, `count` of them, to 0.
void clear_elements(float* x, long long first, long long apart, int count);
/// x[i] = i.
void count_up(unsigned* x, int count);

/// out = x * w^T, of an m x k and an n x k matrix, one thread per element.
void product_of_rows(const float* x, const float* w, float* out, int m, int k, int n);

}  // namespace DEVICE::test_kernels
