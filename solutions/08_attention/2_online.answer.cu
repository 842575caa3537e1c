/// \file
/// Exercise 08.2, online: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  launch(attention_online::largest_and_sum, d.shape.dims[0], d.block, d.floats("x"), d.floats("most"),
         d.floats("sum"), d.shape.dims[1]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
