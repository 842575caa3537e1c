/// \file
/// Exercise 01.2, pairs: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  multiply_add_pairs::multiply_add(d.floats("pairs"), d.floats("v"), d.floats("out"), d.shape.dims[0]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
