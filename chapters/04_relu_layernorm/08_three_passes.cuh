/// \file
/// Stage 8: one kernel, one block per row, and three passes over the row. The second and third pass read what
/// the first has just read, so it comes from the cache as long as the rows in flight fit there.
#pragma once
#include "03_tree.cuh"
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

/// y = the normalised row of relu(x), one block per row. Traffic: reads 12 bytes and writes 4 bytes per
/// element, and reads weight and bias once per row; of the 12 bytes, 4 come from memory where the row stays
/// in the cache.
__global__ void three_passes(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ y, int columns,
                             float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += relu(x[first + c]);
  const float mean = block_sum(sum) / static_cast<float>(columns);

  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) {
    const float distance = relu(x[first + c]) - mean;
    squares += distance * distance;
  }
  const float inverse = rsqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = (relu(x[first + c]) - mean) * inverse * weight[c] + bias[c];
}

// --- On the host ---

struct ThreePasses {
  static constexpr Stage row = kNormalises.with(
      {.name = "08_three_passes", .idea = "one kernel, three passes over the row", .needs = kBlockPerRow});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(three_passes, s.rows, kRowThreads, data[kX], data[kWeight], data[kBias], data[kY], s.columns,
           kEpsilon);
  }
  static Traffic traffic(const Shape& s) { return with_parameters(s, 3 * once(s), once(s), rows(s)); }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
