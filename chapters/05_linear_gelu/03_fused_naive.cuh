/// \file
/// Stage 3: bias and GELU in the kernel that computes the product. This fusion paid in chapters 01 to 04;
/// here the product costs so much that it hardly matters.
#pragma once
#include "02_coalesced.cuh"

namespace DEVICE::linear_gelu {

/// y = gelu(x * w^T + bias); blocks as in stage 2. Traffic: that of stage 2's product, and a sector for the
/// bias of each element.
__global__ void linear_along_rows(const float* __restrict__ x, const float* __restrict__ w,
                                  const float* __restrict__ bias, float* __restrict__ y, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float sum = warp_dot(x + row * k, w + static_cast<size_t>(column) * k, k);
  if (threadIdx.x == 0) y[row * n + column] = gelu(sum + bias[column]);
}

// --- On the host ---

struct FusedNaive {
  static constexpr Stage row =
      kComputesY.with({.name = "03_fused_naive", .idea = "bias and GELU in the same kernel"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(linear_along_rows, by_rows(a, 8), dim3(32, 8), a.x, a.w, data[kBias], data[kY], a.k, a.n);
  }
  static Traffic traffic(const Shape& s) {
    return coalesced_product_traffic(s) + Traffic{32 * y_elements(s), 0, 32 * y_elements(s) - 4 * n(s)};
  }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
