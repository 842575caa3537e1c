/// \file
/// Stage 5: 8 bits for each element, so that a call is enough for sixteen. p is then a multiple of 1/256: 0.1
/// becomes 26/256, which is 0.1016.
#pragma once
#include "4_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// --- On the host ---

struct EightBits {
  static void run(const Data& d) { launch_forward<float, 4, Erf>(d, d.floats("x"), d.floats("y_sixteen")); }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
