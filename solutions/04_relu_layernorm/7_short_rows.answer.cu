/// \file
/// Exercise 04.7, short_rows: how the file that is judged is called.
#include "ceil_div.hpp"
#include "rows.hpp"

namespace DEVICE {
namespace {

/// A block of 128 threads for each 16 rows.
void run(const workbook::Data& d) {
  const int rows = d.shape.dims[0];
  launch(layernorm_short_rows::normalise, ceil_div(rows, 16), 128, d.floats("x"), d.floats("weight"),
         d.floats("bias"), d.floats("y"), rows, kEpsilon);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
