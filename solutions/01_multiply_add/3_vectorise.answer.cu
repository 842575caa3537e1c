/// \file
/// Exercise 01.3, vectorise: how the file that is judged is called.
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  multiply_add_vectorise::scale_and_add(kFactor, d.floats("x"), d.floats("y"), d.floats("out"),
                                        d.shape.dims[0]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
