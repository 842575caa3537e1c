/// \file
/// Stage 9 in bfloat16, by a table of the derivative.
#pragma once
#include "06_table.cuh"

namespace DEVICE::gelu_dropout {

struct Slope {
  __device__ static float factor(float x) { return gelu_slope(x); }
};

/// dx[i] = dy[i] * scale * the derivative of gelu at x[i], or 0 where element i was dropped.
/// Traffic: that of backward, and the table for each block, from a cache.
__global__ void __launch_bounds__(kTableThreads)
    backward_by_table(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ dy,
                      const float* __restrict__ factors, __nv_bfloat16* __restrict__ dx, unsigned n,
                      Dropout dropout) {
  __shared__ Table table;
  table.copy(factors);
  const bool aligned = are_aligned(x, dy, dx);
  for (unsigned v = blockIdx.x * kTableThreads + threadIdx.x; 8 * v < n; v += gridDim.x * kTableThreads) {
    const Vector<__nv_bfloat16> values = load(x, v, n, aligned);
    Vector<__nv_bfloat16> eight = load(dy, v, n, aligned);
    eight.bits() = multiply_or_drop(eight.bits(), values.bits(), table, dropout.random(v), dropout);
    store(dx, v, n, aligned, eight);
  }
}

// --- On the host ---

struct BackwardByTable {
  static constexpr Stage row = kBackward.with({.name = "09_table",
                                               .idea = "bfloat16, and the derivative by a table",
                                               .output = {&kDxBFloat16},
                                               .kernels = 2});
  static void run(const Data& d) {
    const int n = element_count(d);
    const Dropout dropout = dropout_of<16>(d);
    float* factors = d[kTable];
    launch_compute_table<Slope>(factors, dropout.scale);
    launch(backward_by_table, table_blocks(n), kTableThreads, d[kXBFloat16], d[kDyBFloat16], factors,
           d[kDxBFloat16], static_cast<unsigned>(n), dropout);
  }
  static Traffic traffic(const Shape& s) {
    return Traffic{2 * vector_bytes(s, 2), vector_bytes(s, 2)} + table_traffic(s);
  }
};

}  // namespace DEVICE::gelu_dropout
