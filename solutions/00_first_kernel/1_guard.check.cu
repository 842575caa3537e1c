/// \file
/// Specification of exercise 00.1, guard.
#include "twice.hpp"

namespace DEVICE {
namespace {

/// One thread per element, in whole blocks.
void run(const Data& d) {
  constexpr int kThreads = 256;
  const int n = d.shape.dims[0];
  launch(first_kernel_guard::twice, (n - 1) / kThreads + 1, kThreads, d.floats("x"), d.floats("out"), n);
}

}  // namespace

Exercise exercise() {
  return twice_exercise("A grid is rounded up to whole blocks, so a kernel asks whether its element exists.",
                        "docs/00_first_kernel.md, stage 3", run);
}

}  // namespace DEVICE
