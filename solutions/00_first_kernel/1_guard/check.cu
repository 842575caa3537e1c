/// \file
/// Exercise 00.1, guard: what it asks for, and how the file that is judged is called.
#include "../twice.hpp"

namespace DEVICE {
Exercise exercise() {
  return twice_exercise("A grid is rounded up to whole blocks, so a kernel asks whether its element exists.",
                        "docs/00_first_kernel.md, stage 3");
}

// --- How the file that is judged is called ---

namespace {

/// One thread per element, in whole blocks.
void run(const workbook::Data& d) {
  constexpr int kThreads = 256;
  const int n = d.shape.dims[0];
  launch(first_kernel_guard::twice, (n - 1) / kThreads + 1, kThreads, d[kX], d[kOut], n);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
