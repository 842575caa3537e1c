/// \file
/// Exercise 01.4, sum: how the file that is judged is called.
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  const int blocks = block_count(d.shape);
  launch(multiply_add_sum::sum_blocks, blocks, d.block, d.floats("x"), d.floats("partial"), d.shape.dims[0]);
  launch(multiply_add_sum::sum_blocks, 1, d.block, d.floats("partial"), d.floats("total"), blocks);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
