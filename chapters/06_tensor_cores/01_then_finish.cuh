/// \file
/// Stage 1 unfused: the product alone, then bias and GELU in a pass of their own.
#pragma once
#include "01_wmma.cuh"
#include "gelu.hpp"
#include "row_vectors.hpp"

namespace DEVICE::tensor_cores {

constexpr int kPassRows = 4, kPassThreads = 256;

/// y = gelu(product + bias) in bfloat16, with a block per kPassRows rows and 8 * kPassThreads columns. Reads
/// and writes 2 bytes per element, besides the bias.
template <class Gelu>
__global__ void bias_gelu_pass(const __nv_bfloat16* __restrict__ product, const float* __restrict__ bias,
                               __nv_bfloat16* __restrict__ y, int m, int n, Gelu gelu_of) {
  const int column = (blockIdx.y * kPassThreads + threadIdx.x) * 8, first_row = blockIdx.x * kPassRows;
  if (column >= n) return;
  const size_t first = static_cast<size_t>(first_row) * n + column;
  const bool aligned = starts_vectors(product, n) && starts_vectors(y, n);
  const bool bias_aligned = starts_vectors(bias, n);
  Pack<__nv_bfloat16> of_product[kPassRows];
#pragma unroll
  for (int r = 0; r < kPassRows; ++r)
    of_product[r].bits = first_row + r < m
                             ? load_eight(product + first + static_cast<size_t>(r) * n, n - column, aligned)
                             : uint4{};
  const float4 low = load_four(bias + column, n - column, bias_aligned);
  const float4 high = load_four(bias + column + 4, n - column - 4, bias_aligned);
  const float of_column[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int r = 0; r < kPassRows; ++r) {
    Pack<__nv_bfloat16> results;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      results.element[j] =
          from_float<__nv_bfloat16>(gelu_of(to_float(of_product[r].element[j]) + of_column[j]));
    if (first_row + r < m) store_eight(y + first + static_cast<size_t>(r) * n, results, n - column, aligned);
  }
}

// --- On the host ---

template <class Gelu>
void launch_bias_gelu_pass(const Data& data, Gelu gelu_of) {
  const Factors a = factors(data);
  const dim3 grid(static_cast<unsigned>(ceil_div(a.m, kPassRows)),
                  static_cast<unsigned>(ceil_div(a.n, 8 * kPassThreads)));
  launch(bias_gelu_pass<Gelu>, grid, kPassThreads, data[kProduct], data[kBias], data[kY], a.m, a.n, gelu_of);
}

/// A lane loads its eight biases in two vectors, so a warp loads each sector of the bias twice.
inline Traffic bias_gelu_pass_traffic(const Shape& s) {
  return Traffic{2 * y_elements(s), 2 * y_elements(s)} + bias_traffic(s, kPassRows, 2);
}

struct ThenFinish {
  static constexpr Stage row = kOnTensorCores.with({.name = "01_then_finish",
                                                    .idea = "the same unfused: bias and GELU in one pass",
                                                    .kernels = 2,
                                                    .roundings = tensor_roundings_twice,
                                                    .exact_roundings = exact_roundings_twice});
  static void run(const Data& data) {
    launch_wmma(factors(data), data[kProduct], NoEpilogue{});
    launch_bias_gelu_pass(data, ExactGelu{});
  }
  static Traffic traffic(const Shape& s) { return wmma_product_traffic(s) + bias_gelu_pass_traffic(s); }
};

}  // namespace DEVICE::tensor_cores
