/// \file
/// Specification of exercise 00.2, grid.
#include "grids.hpp"
#include "twice.hpp"

namespace DEVICE {
Exercise exercise() {
  Exercise exercise = twice_exercise(
      "With a grid-stride loop any grid does for any n, and you choose it by what suits the GPU.",
      "docs/00_first_kernel.md, a fixed grid");
  exercise.grid_blocks = grid_blocks;
  exercise.timed_shape = {{1 << 22, 1, 1}};  // the skeleton's one block takes long
  return exercise;
}

}  // namespace DEVICE
