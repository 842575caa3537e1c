/// \file
/// From the number of an element type in the C layer to the type itself.
#pragma once
#include "interface.hpp"

#if !defined(__CUDACC__) && !defined(__device__)
#define __device__  // means nothing to a host compiler
#endif

namespace workbook_ops {

/// Calls `function` with a null pointer to an element of that type, for operators without float64. Half and
/// BFloat16 are the names that the 16-bit types have there.
template <class Half, class BFloat16, class Function>
void with_short_type(int type, Function function) {
  switch (type) {
    case kFloat32:
      return function(static_cast<float*>(nullptr));
    case kFloat16:
      return function(static_cast<Half*>(nullptr));
    case kBFloat16:
      return function(static_cast<BFloat16*>(nullptr));
  }
}

/// The same for all types.
template <class Half, class BFloat16, class Function>
void with_type(int type, Function function) {
  if (type == kFloat64) return function(static_cast<double*>(nullptr));
  with_short_type<Half, BFloat16>(type, function);
}

}  // namespace workbook_ops
