/// \file
/// Stage 10: dropout as a prologue. What follows is a sum over each row, so the elements need not be stored
/// at all: they are computed where the sum wants them.
#pragma once
#include "problem.cuh"
#include "sums.hpp"

namespace DEVICE::gelu_dropout {

// [sum]
/// sums[r] = the sum of dropout(gelu(x)) over row r, one block of whole warps per row. `whole` promises that
/// all rows begin at vectors: then a call serves the eight elements of one, and without it a single element.
/// Traffic: reads 2 bytes per element, and writes 4 bytes per row.
__global__ void row_sum(const __nv_bfloat16* __restrict__ x, float* __restrict__ sums, unsigned columns,
                        bool whole, Dropout dropout) {
  const unsigned first = blockIdx.x * columns, end = first + columns;
  float sum = 0.0f;
  if (whole) {
    for (unsigned v = first / 8 + threadIdx.x; v < end / 8; v += blockDim.x) {
      Vector<__nv_bfloat16> eight;
      eight.bits() = reinterpret_cast<const uint4*>(x)[v];
      const uint4 call = dropout.random(EightHalves::place(8 * v).call);
#pragma unroll
      for (int j = 0; j < 8; ++j) sum += dropout(gelu(to_float(eight.element[j])), number<16>(call, j));
    }
  } else {
    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
      const auto at = EightHalves::place(i);
      sum += dropout(gelu(to_float(x[i])), number<16>(dropout.random(at.call), at.number));
    }
  }
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
// [sum]

// --- On the host ---

/// Threads of a block that has a row: a vector of eight each, at most 256.
inline int row_threads(const Shape& s) {
  const int threads = ceil_div(s.dims[1], 256) * 32;
  return threads < 256 ? threads : 256;
}

struct RowSum {
  static constexpr Stage row = {.name = "10_row_sum",
                                .idea = "dropout as the prologue of a sum over each row",
                                .output = {&kSums},
                                .roundings = row_roundings,
                                .exact_roundings = exact_sum_roundings,
                                .against = "10_row_sum"};
  static void run(const Data& d) {
    const __nv_bfloat16* x = d[kXBFloat16];
    const bool whole = d.shape.dims[1] % 8 == 0 && are_aligned(x);
    launch(row_sum, d.shape.dims[0], row_threads(d.shape), x, d[kSums],
           static_cast<unsigned>(d.shape.dims[1]), whole, dropout_of<16>(d));
  }
  static Traffic traffic(const Shape& s) {
    return {row_sector_bytes(s, 2, s.dims[1] % 8 == 0 ? 8 : 1), 32 * rows(s), 0,
            32 * rows(s) - sector_bytes(rows(s))};
  }
};

}  // namespace DEVICE::gelu_dropout
