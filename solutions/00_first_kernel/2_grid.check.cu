/// \file
/// Specification of exercise 00.2, grid.
#include "twice.hpp"

namespace DEVICE {
Exercise exercise() {
  return twice_exercise(
      "With a grid-stride loop any grid does for any n, and you choose it by what suits the GPU.",
      "docs/00_first_kernel.md, a fixed grid");
}

}  // namespace DEVICE
