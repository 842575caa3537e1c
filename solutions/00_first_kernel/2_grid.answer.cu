/// \file
/// Exercise 00.2, grid: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

/// Two grids, so that a kernel cannot know its grid by heart. For some n either is too small.
void run(const workbook::Data& d) {
  const int n = d.shape.dims[0];
  launch(first_kernel_grid::twice, n % 2 == 0 ? 3 : 8, 64, d.floats("x"), d.floats("out"), n);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
