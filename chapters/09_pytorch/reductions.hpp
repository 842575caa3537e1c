/// \file
/// The reductions of the C layer, for the loops of the CPU and for the kernels: what is added up of each
/// element, and the slope of that; whether the sum is divided by the number of elements.
#pragma once
#include <cmath>

#include "types.hpp"

namespace workbook_ops {

struct SumOfSquares {
  static constexpr bool kMean = false;
  template <class C>
  static __device__ C term(C v) {
    return v * v;
  }
  template <class C>
  static __device__ C slope(C v) {
    return 2 * v;
  }
};

struct MeanAbs {
  static constexpr bool kMean = true;
  template <class C>
  static __device__ C term(C v) {
    return std::fabs(v);
  }
  /// 0 at 0 and for a NaN, as in PyTorch.
  template <class C>
  static __device__ C slope(C v) {
    return static_cast<C>((v > 0) - (v < 0));
  }
};

/// Calls `function` with the reduction of that number.
template <class Function>
void with_reduction(int kind, Function function) {
  switch (kind) {
    case kSumOfSquares:
      return function(SumOfSquares());
    case kMeanAbs:
      return function(MeanAbs());
  }
}

}  // namespace workbook_ops
