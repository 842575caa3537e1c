/// \file
/// Exercise 10.2, two_shot: how the file that is judged is called.
#include "rows.hpp"

namespace DEVICE {
namespace {

namespace rows = rows_on_gpus;

/// A block for each row of the GPU that has the most. Afterwards each GPU copies its y, as a kernel that uses
/// it would read it.
void run(const workbook::Data& d) {
  const auto x = rows::x_on_gpus(d);
  const auto y = rows::on_gpus<float>(d, "y");
  const auto flags = rows::on_gpus<unsigned>(d, "flags", workbook::Type::kUint32);
  const auto judged = [&](int gpu) {
    launch(two_shot_norm::two_shot, ceil_div(d.shape.dims[1], d.shape.dims[0]), 256, x,
           rows::floats(d, "residual", gpu), rows::floats(d, "weight", gpu), rows::floats(d, "h", gpu), y,
           flags, d.shape.dims[0], gpu, d.shape.dims[1], d.shape.dims[2]);
  };
  rows::run_between(d, judged, [&](int gpu) {
    launch(rows::copy<float>, rows::blocks_of_elements(d.shape), 256, y.of[gpu], rows::floats(d, "next", gpu),
           rows::elements(d.shape));
  });
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
