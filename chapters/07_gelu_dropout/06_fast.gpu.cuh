/// \file
/// Stages 6 and 9 with a GELU, whose error is below a third of a bfloat16's last place, and a derivative of
/// fewer instructions: in half the bytes there is time for half the instructions. And the same in float32.
#pragma once
#include "06_half.cuh"
#include "09_recomputed.cuh"
#ifdef WORKBOOK_GPU
#include "fast_gelu.gpu.cuh"
#endif

namespace DEVICE::gelu_dropout {

#ifdef WORKBOOK_GPU
struct FastErf {
  static constexpr bool kTanh = false;
  __device__ static float value(float v) { return FastGelu()(v); }
  __device__ static float slope(float v) { return fast_gelu_slope(v); }
};
#endif

// --- On the host ---

struct Fast {
  static constexpr Stage row = kForward.with({.name = "06_fast",
                                              .idea = "bfloat16, and a GELU of fewer instructions",
                                              .output = {&kYBFloat16},
                                              .needs = "a GPU"});
#ifdef WORKBOOK_GPU
  static void run(const Data& d) { launch_sixteen_bit_type<FastErf>(d, d[kXBFloat16], d[kYBFloat16]); }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
#endif
};

struct FastFloat {
  static constexpr Stage row = kForward.with(
      {.name = "06_fast_float", .idea = "float32, with the same GELU", .output = {&kY}, .needs = "a GPU"});
#ifdef WORKBOOK_GPU
  using Runs = SixteenBits<FastErf>;
#endif
};

struct FastBackward {
  static constexpr Stage row = kBackward.with({.name = "09_fast",
                                               .idea = "bfloat16, and a derivative of fewer instructions",
                                               .output = {&kDxBFloat16},
                                               .needs = "a GPU"});
#ifdef WORKBOOK_GPU
  static void run(const Data& d) {
    launch_backward<__nv_bfloat16, 1, FastErf>(d, d[kXBFloat16], d[kDyBFloat16], d[kDxBFloat16]);
  }
  static Traffic traffic(const Shape& s) { return {2 * vector_bytes(s, 2), vector_bytes(s, 2)}; }
#endif
};

struct FastBackwardFloat {
  static constexpr Stage row = kBackward.with({.name = "09_fast_float",
                                               .idea = "float32, with the same derivative",
                                               .output = {&kDx},
                                               .needs = "a GPU"});
#ifdef WORKBOOK_GPU
  using Runs = Recomputed<FastErf>;
#endif
};

}  // namespace DEVICE::gelu_dropout
