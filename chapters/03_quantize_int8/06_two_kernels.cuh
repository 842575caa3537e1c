/// \file
/// Stage 6: one scale per row, which maps the row's largest absolute value to 127. One kernel finds the
/// scales, the next quantises: x is read twice.
#pragma once
#include "problem.cuh"
#include "quantize.cuh"

namespace DEVICE::quantize_int8 {

constexpr int kRowThreads = 256;

// [block_largest]
/// The largest `value` of the block's kRowThreads threads, in shared memory, where all of them may read it;
/// every thread of the block must call it. A tree, like block_sum().
__device__ inline const float* block_largest(float value) {
  __shared__ float largest[kRowThreads];
  const unsigned t = threadIdx.x;
  largest[t] = value;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) largest[t] = larger(largest[t], largest[t + half]);
    __syncthreads();
  }
  return &largest[0];
}
// [block_largest]

// [find_scales]
/// scales[r] = the scale of row r, one block per row. Reads 4 bytes per element, writes one float per row.
__global__ void find_scales(const float* __restrict__ x, float* __restrict__ scales, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float largest = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) largest = larger(largest, fabsf(row[c]));
  const float* of_block = block_largest(largest);
  if (threadIdx.x == 0) scales[blockIdx.x] = scale_of(*of_block);
}
// [find_scales]

/// q = x quantised with the scale of its row, one block per row. Reads 4 bytes and writes 1 byte per element.
__global__ void quantize_rows(const float* __restrict__ x, const float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const float scale = scales[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    q[first + c] = to_int8(quantized(x[first + c], scale, 0.0f));
}

// --- On the host ---

struct TwoKernels {
  static constexpr Stage row = kScalePerRow.with(
      {.name = "06_two_kernels", .idea = "a scale for each row: find it, then quantise", .kernels = 2});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(find_scales, s.rows, kRowThreads, data[kX], data[kScales], s.columns);
    launch(quantize_rows, s.rows, kRowThreads, data[kX], data[kScales], data[kQRows], s.columns);
  }
  static Traffic traffic(const Shape& s) {
    const long long reads = row_sector_bytes(s, 4, 1), writes = row_sector_bytes(s, 1, 1);
    const long long warps = kRowThreads / 32;  // each reads the scale of its row
    return {2 * reads + warps * scale_bytes(s), scale_bytes(s) + writes};
  }
  static bool suits(const Shape& s) { return rows_fit_blocks(s); }
};

}  // namespace DEVICE::quantize_int8
