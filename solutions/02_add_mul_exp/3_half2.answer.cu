/// \file
/// Exercise 02.3, half2: how the file that is judged is called.
#include "add_mul_exp.hpp"

namespace DEVICE {
namespace {

void run(const workbook::Data& d) {
  add_mul_exp_half2::scaled_sum(__float2half(kFactor), half_array(d, "x"), half_array(d, "y"),
                                half_array(d, "out"), d.shape.dims[0]);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
