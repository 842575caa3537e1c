/// \file
/// Stage 1 unfused: the product alone, then bias and GELU in a pass of their own.
#pragma once
#include "01_wmma.cuh"
#include "bias_gelu_pass.cuh"

namespace DEVICE::tensor_cores {

// --- On the host ---

struct ThenFinish {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_wmma(a, a.product, NoEpilogue{});
    launch_bias_gelu_pass(a, ExactGelu{});
  }
  static Traffic traffic(const Shape& s) { return wmma_product_traffic(s) + bias_gelu_pass_traffic(s); }
};

}  // namespace DEVICE::tensor_cores
