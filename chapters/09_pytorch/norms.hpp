/// \file
/// The norms of the C layer, for the loops of the CPU and for the kernels.
#pragma once
#include "types.hpp"

namespace workbook_ops {

/// relu(normalised row of x * weight + bias).
struct LayerNormRelu {
  static constexpr bool kReluFirst = false, kReluLast = true, kResidual = false;
};

/// The normalised row of relu(x) * weight + bias.
struct ReluLayerNorm {
  static constexpr bool kReluFirst = true, kReluLast = false, kResidual = false;
};

/// The row of x + residual, divided by the root of the mean of its squares, * weight. No mean is subtracted.
struct ResidualRmsNorm {
  static constexpr bool kReluFirst = false, kReluLast = false, kResidual = true;
};

/// Calls `function` with the norm of that number.
template <class Function>
void with_norm(int kind, Function function) {
  switch (kind) {
    case kLayerNormRelu:
      return function(LayerNormRelu());
    case kReluLayerNorm:
      return function(ReluLayerNorm());
    case kResidualRmsNorm:
      return function(ResidualRmsNorm());
  }
}

}  // namespace workbook_ops
