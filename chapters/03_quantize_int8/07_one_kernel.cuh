/// \file
/// Stage 7: one kernel for both. A block finds its row's scale and then reads the row a second time: from the
/// cache, if the row fits there.
#pragma once
#include "06_two_kernels.cuh"

namespace DEVICE::quantize_int8 {

/// scales[r] and q of row r, one block per row. Traffic: reads 8 bytes and writes 1 byte per element; 4 of
/// the bytes come from DRAM where the row stays in the cache.
__global__ void quantize_twice(const float* __restrict__ x, float* __restrict__ scales,
                               signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float largest = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) largest = larger(largest, fabsf(x[first + c]));
  const float scale = scale_of(*block_largest(largest));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    q[first + c] = to_int8(quantized(x[first + c], scale, 0.0f));
}

// --- On the host ---

struct OneKernel {
  static constexpr Stage row =
      kScalePerRow.with({.name = "07_one_kernel", .idea = "one kernel, which reads its row twice"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(quantize_twice, s.rows, kRowThreads, data[kX], data[kScales], data[kQRows], s.columns);
  }
  static Traffic traffic(const Shape& s) {
    return {2 * row_sector_bytes(s, 4, 1), scale_bytes(s) + row_sector_bytes(s, 1, 1)};
  }
  static bool suits(const Shape& s) { return rows_fit_blocks(s); }
};

}  // namespace DEVICE::quantize_int8
