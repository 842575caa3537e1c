/// \file
/// Stage 9 and bias and GELU after it, in a pass of their own: what stage 10 is compared with.
#pragma once
#include "09_warp_tiles.cuh"
#include "epilogues.hpp"
#include "row_vectors.hpp"

namespace DEVICE::linear_gelu {

constexpr int kPassRows = 4, kPassThreads = 256;

/// y = epilogue(product) in one pass over the result, with a block per kPassRows rows and 4 * kPassThreads
/// columns. Reads and writes 4 bytes per element, besides the bias.
template <class Epilogue>
__global__ void bias_gelu_pass(const float* __restrict__ product, float* __restrict__ y, int m, int n,
                               Epilogue epilogue) {
  const int column = (blockIdx.y * kPassThreads + threadIdx.x) * 4, first_row = blockIdx.x * kPassRows;
  if (column >= n) return;
  const size_t first = static_cast<size_t>(first_row) * n + column;
  const bool aligned = starts_vectors(product, n) && starts_vectors(y, n);
  float4 of_product[kPassRows];
#pragma unroll
  for (int r = 0; r < kPassRows; ++r)
    of_product[r] = first_row + r < m
                        ? load_four(product + first + static_cast<size_t>(r) * n, n - column, aligned)
                        : float4{};
  float of_column[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) of_column[j] = column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
  for (int r = 0; r < kPassRows; ++r) {
    const float4 v = of_product[r];
    const float results[] = {epilogue(v.x, of_column[0]), epilogue(v.y, of_column[1]),
                             epilogue(v.z, of_column[2]), epilogue(v.w, of_column[3])};
    if (first_row + r < m) store_four(y + first + static_cast<size_t>(r) * n, results, n - column, aligned);
  }
}

// --- On the host ---

/// y = gelu(product + bias).
inline void launch_bias_gelu_pass(const Data& data) {
  const Factors a = factors(data);
  const dim3 grid(static_cast<unsigned>(ceil_div(a.m, kPassRows)),
                  static_cast<unsigned>(ceil_div(a.n, 4 * kPassThreads)));
  launch(bias_gelu_pass<BiasGelu>, grid, kPassThreads, data[kProduct], data[kY], a.m, a.n,
         BiasGelu{data[kBias]});
}

/// A warp that loads every fourth bias touches each sector four times, once per kPassRows rows.
inline Traffic bias_gelu_pass_traffic(const Shape& s) {
  return pass(s, 16 * n(s) * ceil_div(s.dims[0], kPassRows));
}

struct ThenFinish {
  static constexpr Stage row = kComputesY.with(
      {.name = "09_then_finish", .idea = "the same, then bias and GELU in one pass", .kernels = 2});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kProduct], AsItIs{}, NoEpilogue{});
    launch_bias_gelu_pass(data);
  }
  static Traffic traffic(const Shape& s) { return tile_traffic(s) + bias_gelu_pass_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
