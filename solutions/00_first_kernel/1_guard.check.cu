/// \file
/// Specification of exercise 00.1, guard.
#include "twice.hpp"

namespace DEVICE {
Exercise exercise() {
  return twice_exercise("A grid is rounded up to whole blocks, so a kernel asks whether its element exists.",
                        "docs/00_first_kernel.md, stage 3");
}

}  // namespace DEVICE
