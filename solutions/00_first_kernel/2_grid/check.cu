/// \file
/// Exercise 00.2, grid: what it asks for, and how the file that is judged is called.
#include "../grids.hpp"
#include "../twice.hpp"

namespace DEVICE {
Exercise exercise() {
  Exercise exercise = twice_exercise(
      "With a grid-stride loop any grid does for any n, and you choose it by what suits the GPU.",
      "docs/00_first_kernel.md, a fixed grid");
  exercise.grid_blocks = grid_blocks;
  exercise.timed_shape = {{1 << 22, 1, 1}};  // the skeleton's one block takes long
  return exercise;
}

// --- How the file that is judged is called ---

namespace {

void run(const workbook::Data& d) {
  launch(first_kernel_grid::twice, grid_blocks(d.shape), 64, d[kX], d[kOut], d.shape.dims[0]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
