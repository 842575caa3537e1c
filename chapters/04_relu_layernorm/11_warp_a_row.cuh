/// \file
/// Stage 11: short rows, which have too little work for the threads of a block: one warp per row, or only the
/// lanes of a warp that it takes to hold the row, so that every lane has the same number of loads in flight
/// as in stage 10. No barrier and no shared memory: the warps of a block are independent of each other.
#pragma once
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

// [lanes]
/// The sum of `value` over the lanes of the row, in each of them: `lanes` neighbouring lanes, a power of
/// two.
__device__ inline float lanes_sum(float value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}
// [lanes]

/// y = the normalised row of relu(x), `lanes` lanes per row: 8, 16 or 32 of them; columns <= 16 * lanes.
/// `Vector` as in one_read(). Traffic: reads 4 bytes and writes 4 bytes per element, and reads weight and
/// bias once per warp.
template <class Vector>
__global__ void warp_per_row(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                             int lanes, float epsilon) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
  const size_t first = static_cast<size_t>(r) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = r < rows ? columns / kWidth<Vector> : 0;
  const Vector* weights_in = reinterpret_cast<const Vector*>(weight);
  const Vector* biases_in = reinterpret_cast<const Vector*>(bias);
  Vector held[kHeld<Vector>], weights[kHeld<Vector>], biases[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    held[j] = i < vectors ? row[i] : Vector{};
  }
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    weights[j] = i < vectors ? weights_in[i] : Vector{};
    biases[j] = i < vectors ? biases_in[i] : Vector{};
  }

  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  const float mean = lanes_sum(sum, lanes) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += lane + lanes * j < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(lanes_sum(squares, lanes) / static_cast<float>(columns) + epsilon);

  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    if (i < vectors) out[i] = affine(held[j], inverse, weights[j], biases[j]);
  }
}

// --- On the host ---

/// Lanes of a warp for a row, `each` elements of it per lane in accesses of `access` bytes: as few as load
/// whole sectors, and 32 if it takes a warp or more.
inline int row_lanes(int columns, int each = kHeldBytes / 4, int access = 4) {
  int lanes = 32 / access;
  while (lanes < 32 && lanes * each < columns) lanes *= 2;
  return lanes;
}

/// Bytes of one array: each load or store of a warp has `lanes` neighbouring accesses of each of its rows,
/// `wide` elements of `bytes` bytes in each. The rows of a warp that meet in a sector share it.
inline long long rows_once(const Shape& s, int lanes, int bytes, int wide) {
  const int rows_of_warp = 32 / lanes, step = lanes * wide, each = 32 / bytes;
  const long long all = rows(s), row = columns(s);
  long long sectors = 0;
  for (long long first = 0; first < all; first += rows_of_warp)
    for (long long c = 0; c < row; c += step) {
      long long last = -1;
      for (long long r = first; r < first + rows_of_warp && r < all; ++r) {
        const long long end = c + step < row ? c + step : row;
        const long long from = (r * row + c) / each, to = (r * row + end - 1) / each;
        sectors += to - (from > last ? from : last + 1) + 1;
        last = to;
      }
    }
  return 32 * sectors;
}

struct WarpPerRow {
  static constexpr Stage row =
      kNormalises.with({.name = "11_warp_a_row",
                        .idea = "short rows: one warp, or a part of one, per row",
                        .needs = "rows of at most 512 columns, fewer than 2^32 threads"});
  static constexpr int kBlock = 128;  // threads

  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    const int lanes = row_lanes(data.shape.dims[1]);
    launch(aligned_rows(data, data[kY]) ? warp_per_row<float4> : warp_per_row<float>,
           ceil_div(s.rows, kBlock / lanes), kBlock, data[kX], data[kWeight], data[kBias], data[kY], s.rows,
           s.columns, lanes, kEpsilon);
  }
  static Traffic traffic(const Shape& s) {
    const long long warps = ceil_div(s.dims[0], 32 / row_lanes(s.dims[1]));
    const long long once = rows_once(s, row_lanes(s.dims[1]), 4, width(s));
    return with_parameters(s, once, once, warps);
  }
  /// The numbers of the threads must fit 32 bits.
  static bool suits(const Shape& s) {
    return s.dims[1] <= 32 * kHeldBytes / 4 && rows(s) * row_lanes(s.dims[1]) < 1ll << 32;
  }
};

}  // namespace DEVICE::relu_layernorm
