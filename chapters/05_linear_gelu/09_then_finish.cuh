/// \file
/// Stage 9 and bias and GELU after it, in a pass of their own: what stage 10 is compared with.
#pragma once
#include "09_warp_tiles.cuh"
#include "bias_gelu_pass.cuh"

namespace DEVICE::linear_gelu {

// --- On the host ---

struct ThenFinish {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_warp_tiles(a, a.product, AsItIs{}, NoEpilogue{});
    launch_bias_gelu_pass(a);
  }
  static Traffic traffic(const Shape& s) { return tile_traffic(s) + bias_gelu_pass_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
