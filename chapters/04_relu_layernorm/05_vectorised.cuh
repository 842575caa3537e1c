/// \file
/// Stage 5: loads of 16 bytes, four of them in flight before the first is used, and no more threads than the
/// row has work for. The term that is added up is a parameter: squares, or absolute values for their mean.
#pragma once
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// out[r] = the sum of the terms of row r divided by `divisor`, one block of whole warps per row. `Vector` is
/// float4, for rows that begin at multiples of 16 bytes, or float. Reads 4 bytes per element.
template <class Term, class Vector>
__global__ void reduce_rows(const float* __restrict__ x, float* __restrict__ out, int columns,
                            float divisor) {
  constexpr int kLoads = 4;
  const Vector* row = reinterpret_cast<const Vector*>(x + static_cast<size_t>(blockIdx.x) * columns);
  const int vectors = columns / kWidth<Vector>, threads = blockDim.x;
  float sum = 0.0f;
  // [loads]
  for (int first = 0; first < vectors; first += kLoads * threads) {
    Vector loaded[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const int i = first + j * threads + threadIdx.x;
      loaded[j] = i < vectors ? row[i] : Vector{};
    }
#pragma unroll
    for (int j = 0; j < kLoads; ++j) sum += sum_of<Term>(loaded[j]);
  }
  // [loads]
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / divisor;
}

// --- On the host ---

template <class Term>
void launch_reduce_rows(const Data& data, float* out, float divisor) {
  const Sizes s = sizes(data.shape);
  const bool four = s.columns % 4 == 0 && are_aligned(data[kX]);
  launch(four ? reduce_rows<Term, float4> : reduce_rows<Term, float>, s.rows,
         row_threads(s.columns, four ? 16 : 4, 512), data[kX], out, s.columns, divisor);
}

struct Vectorised {
  static constexpr Stage row =
      kReducesRows.with({.name = "05_vectorised", .idea = "16 bytes per load, four loads in flight"});
  static void run(const Data& data) { launch_reduce_rows<Square>(data, data[kSquares], 1.0f); }
  static Traffic traffic(const Shape& s) { return {once(s, width(s)), row_values(s)}; }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

struct RowMeans {
  static constexpr Stage row =
      kReducesRows.with({.name = "05_means",
                         .idea = "the same kernel, absolute values: the mean of each row",
                         .output = {&kRowMeans}});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch_reduce_rows<Magnitude>(data, data[kRowMeans], static_cast<float>(s.columns));
  }
  static Traffic traffic(const Shape& s) { return Vectorised::traffic(s); }
  static bool suits(const Shape& s) { return Vectorised::suits(s); }
};

}  // namespace DEVICE::relu_layernorm
