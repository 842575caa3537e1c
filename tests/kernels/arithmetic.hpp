/// \file
/// Every arithmetic function of the dialect as one row of a table (arithmetic_float.inc,
/// arithmetic_16bit.inc), which both devices can evaluate: the tests compare the results.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

enum class Kind { kFloat, kInt, kHalf, kBfloat16, kHalf2, kBfloat162 };

/// How far a GPU's result may be from the CPU device's: units in the last place, or an absolute difference
/// where that is more.
struct Bound {
  double units;
  double absolute = 0;
};

/// One row: `expression` of operands a, b, c of kind `operands`.
struct Operation {
  const char* expression;
  const char* type;  ///< of the operands, by name
  Kind operands;
  int number;                    ///< what `evaluate` is given
  Bound (*bound)(float, float);  ///< for operands a and b; null: the same bits, or NaN for NaN in float
};

struct Operations {
  const Operation* first;
  int count;
};
Operations operations();

/// out[i] = the operation on a[i], b[i], c[i], all as bits; those of a 16-bit number are the lower half.
void evaluate(int number, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n);

}  // namespace DEVICE::test_kernels
