/// \file
/// Exercise 08.1, softmax: how the file that is judged is called.
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  launch(attention_softmax::softmax, d.shape.dims[0], d.block, d.floats("x"), d.floats("p"), d.shape.dims[1]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
