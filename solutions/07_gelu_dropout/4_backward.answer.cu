/// \file
/// Exercise 07.4, backward: how the file that is judged is called.
#include "numbers.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  gelu_dropout_backward::gelu_dropout_backward(
      d.floats("x"), d.floats("dy"), d.floats("dx"), d.shape.dims[0],
      gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::Backward>(d.shape));
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
