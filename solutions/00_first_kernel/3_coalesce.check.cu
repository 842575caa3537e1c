/// \file
/// Specification of exercise 00.3, coalesce.
#include "twice.hpp"

namespace DEVICE {
Exercise exercise() {
  return twice_exercise(
      "Neighbouring lanes must have neighbouring elements; the elements of one thread may be far apart.",
      "docs/00_first_kernel.md, four elements per thread");
}

}  // namespace DEVICE
