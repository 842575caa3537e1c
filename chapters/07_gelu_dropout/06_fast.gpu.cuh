/// \file
/// Stages 6 and 9 with a GELU, whose error is below a third of a bfloat16's last place, and a derivative of
/// fewer instructions: in half the bytes there is time for half the instructions. And the same in float32.
#pragma once
#include "06_half.cuh"
#include "09_recomputed.cuh"
#include "fast_gelu.gpu.cuh"

namespace DEVICE::gelu_dropout {

struct FastErf {
  static constexpr bool kTanh = false;
  __device__ static float value(float v) { return FastGelu()(v); }
  __device__ static float slope(float v) { return fast_gelu_slope(v); }
};

// --- On the host ---

struct Fast {
  static void run(const Data& d) {
    launch_sixteen_bit_type<FastErf>(d, bfloat16s(d, "x_bfloat16"), bfloat16s(d, "y_bfloat16"));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

struct FastFloat : SixteenBits<FastErf> {};

struct FastBackward {
  static void run(const Data& d) {
    launch_backward<__nv_bfloat16, 1, FastErf>(d, bfloat16s(d, "x_bfloat16"), bfloat16s(d, "dy_bfloat16"),
                                               bfloat16s(d, "dx_bfloat16"));
  }
  static Traffic traffic(const Shape& s) { return {2 * vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

struct FastBackwardFloat : Recomputed<FastErf> {};

}  // namespace DEVICE::gelu_dropout
