/// \file
/// Stage 10 for rows that are too long for the registers of a block: the rest of the row is kept in shared
/// memory, so it is still read once. Such rows are so long that two blocks fill a multiprocessor, and what
/// counts is how many loads each has in flight: it loads weight and bias four vectors at a time
/// (normalise_slice() in row_slice.cuh).
#pragma once
#include "row_slice.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// y = the normalised row of relu(x), one block of kLongRowThreads threads per row; `Vector` as in
/// one_read(). Dynamic shared memory: 4 bytes for each column after the first
/// 16 * kLongRowThreads. Traffic: that of one_read().
template <class Vector>
__global__ void __launch_bounds__(kLongRowThreads, 2)
    long_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
              float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  normalise_slice(reinterpret_cast<const Vector*>(x + first), reinterpret_cast<const Vector*>(weight),
                  reinterpret_cast<const Vector*>(bias), reinterpret_cast<Vector*>(y + first),
                  columns / kWidth<Vector>, columns, epsilon,
                  [](float value) { return block_sum_by_warps(value); });
}

// --- On the host ---

struct LongRows {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_shared(aligned_rows(a, a.y) ? long_rows<float4> : long_rows<float>, a.rows, kLongRowThreads,
                  static_cast<size_t>(staged_bytes(a.columns)), a.x, a.weight, a.bias, a.y, a.columns,
                  kEpsilon);
  }
  static Traffic traffic(const Shape& s) { return one_read_traffic(s); }
  static bool suits(const Shape& s) { return !fits_registers(s) && fits_block(s.dims[1]); }
};

}  // namespace DEVICE::relu_layernorm
