/// \file
/// Specification of exercise 00.2, grid.
#include "twice.hpp"

namespace DEVICE {
namespace {

/// Two grids, so that a kernel cannot know its grid by heart. For some n either is too small.
void run(const Data& d) {
  const int n = d.shape.dims[0];
  launch(first_kernel_grid::twice, n % 2 == 0 ? 3 : 8, 64, d.floats("x"), d.floats("out"), n);
}

}  // namespace

Exercise exercise() {
  return twice_exercise(
      "With a grid-stride loop any grid does for any n, and you choose it by what suits the GPU.",
      "docs/00_first_kernel.md, a fixed grid", run);
}

}  // namespace DEVICE
