/// \file
/// Exercise 07.1, fuse: how the file that is judged is called.
#include "numbers.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  gelu_dropout_fuse::gelu_dropout(
      d.floats("x"), static_cast<signed char*>(d.array("mask", workbook::Type::kInt8)), d.floats("activated"),
      d.floats("y"), d.shape.dims[0], gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::Fuse>(d.shape));
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
