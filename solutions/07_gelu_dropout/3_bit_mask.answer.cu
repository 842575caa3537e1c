/// \file
/// Exercise 07.3, bit_mask: how the file that is judged is called.
#include "numbers.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  gelu_dropout_bit_mask::gelu_dropout(
      d.floats("x"), d.floats("y"), static_cast<unsigned*>(d.array("mask", workbook::Type::kUint32)),
      d.shape.dims[0], gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::BitMask>(d.shape));
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
