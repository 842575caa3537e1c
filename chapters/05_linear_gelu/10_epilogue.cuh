/// \file
/// Stage 10: bias and GELU in the epilogue of stage 9's kernel, so the product never goes to memory. Each
/// element saves 4 bytes written and 4 read, and most loads of the bias; the product itself costs more the
/// longer k is.
#pragma once
#include "09_warp_tiles.cuh"

namespace DEVICE::linear_gelu {

// --- On the host ---

struct InEpilogue {
  static constexpr Stage row =
      kComputesY.with({.name = "10_epilogue", .idea = "bias and GELU in the epilogue: one kernel"});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kY], AsItIs{}, BiasGelu{data[kBias]});
  }
  static Traffic traffic(const Shape& s) { return bias_epilogue_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

/// The same with the tanh form of GELU.
struct InEpilogueTanh : InEpilogue {
  static constexpr Stage row = kComputesY.with({.name = "10_tanh",
                                                .idea = "the same with the tanh form of GELU",
                                                .output = {&kYTanh},
                                                .against = "10_tanh"});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kYTanh], AsItIs{}, BiasGeluTanh{data[kBias]});
  }
};

}  // namespace DEVICE::linear_gelu
