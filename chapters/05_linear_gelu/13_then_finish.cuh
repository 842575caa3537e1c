/// \file
/// Stage 13 unfused, as it stands beside a library's product: bias and GELU in a pass of their own. The
/// product goes to memory and back in bfloat16, and is rounded twice.
#pragma once
#include "13_wmma.cuh"

namespace DEVICE::linear_gelu {

struct ExactGelu {
  __device__ float operator()(float v) const { return gelu(v); }
};

/// y = gelu(product + bias) in bfloat16: a grid of slices of kFinishRows rows x slices of 8 * kFinishThreads
/// columns. Reads and writes 2 bytes per element.
template <class Gelu>
__global__ void finish_bfloat16(const __nv_bfloat16* __restrict__ product, const float* __restrict__ bias,
                                __nv_bfloat16* __restrict__ y, int m, int n, Gelu gelu_of) {
  const int column = (blockIdx.y * kFinishThreads + threadIdx.x) * 8, first_row = blockIdx.x * kFinishRows;
  if (column >= n) return;
  const size_t first = static_cast<size_t>(first_row) * n + column;
  const bool aligned = starts_eights(product, n) && starts_eights(y, n);
  const bool bias_aligned = starts_vectors(bias, n);
  Eight of_product[kFinishRows];
#pragma unroll
  for (int r = 0; r < kFinishRows; ++r)
    of_product[r].bits = first_row + r < m
                             ? load_eight(product + first + static_cast<size_t>(r) * n, n - column, aligned)
                             : uint4{};
  const float4 low = load_four(bias + column, n - column, bias_aligned);
  const float4 high = load_four(bias + column + 4, n - column - 4, bias_aligned);
  const float of_column[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int r = 0; r < kFinishRows; ++r) {
    Eight results;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      results.element[j] =
          from_float<__nv_bfloat16>(gelu_of(to_float(of_product[r].element[j]) + of_column[j]));
    if (first_row + r < m) store_eight(y + first + static_cast<size_t>(r) * n, results, n - column, aligned);
  }
}

}  // namespace DEVICE::linear_gelu
