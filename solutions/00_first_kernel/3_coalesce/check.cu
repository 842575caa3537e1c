/// \file
/// Exercise 00.3, coalesce: what it asks for, and how the file that is judged is called.
#include "../twice.hpp"

namespace DEVICE {
Exercise exercise() {
  return twice_exercise(
      "Neighbouring lanes must have neighbouring elements; the elements of one thread may be far apart.",
      "docs/00_first_kernel.md, four elements per thread");
}

// --- How the file that is judged is called ---

namespace {

void run(const workbook::Data& d) {
  constexpr int kThreads = 256, kPerBlock = 1024;
  const int n = d.shape.dims[0];
  launch(first_kernel_coalesce::twice, (n - 1) / kPerBlock + 1, kThreads, d[kX], d[kOut], n);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
