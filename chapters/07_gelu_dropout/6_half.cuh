/// \file
/// Stage 6: float16 or bfloat16 in and out. A vector of 16 bytes has eight elements, and a call
/// has eight numbers of 16 bits. The arithmetic stays in float32, and the result is rounded once.
#pragma once
#include "4_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// --- On the host ---

struct Float16 {
  static void run(const Data& d) {
    launch_forward<__half, 1, Erf>(d, float16s(d, "x_float16"), float16s(d, "y_float16"));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

/// In the form Erf or Tanh.
template <class Form>
struct BFloat16 {
  static void run(const Data& d) {
    launch_forward<__nv_bfloat16, 1, Form>(d, bfloat16s(d, "x_bfloat16"),
                                           bfloat16s(d, Form::kTanh ? "y_tanh_bfloat16" : "y_bfloat16"));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

}  // namespace DEVICE::gelu_dropout
