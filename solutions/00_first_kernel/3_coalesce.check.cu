/// \file
/// Specification of exercise 00.3, coalesce.
#include "twice.hpp"

namespace DEVICE {
namespace {

void run(const Data& d) {
  constexpr int kThreads = 256, kPerBlock = 1024;
  const int n = d.shape.dims[0];
  launch(first_kernel_coalesce::twice, (n - 1) / kPerBlock + 1, kThreads, d.floats("x"), d.floats("out"), n);
}

}  // namespace

Exercise exercise() {
  return twice_exercise(
      "Neighbouring lanes must have neighbouring elements; the elements of one thread may be far apart.",
      "docs/00_first_kernel.md, four elements a thread", run);
}

}  // namespace DEVICE
