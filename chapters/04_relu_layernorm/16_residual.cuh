/// \file
/// Stage 16: what a transformer has between its blocks: h = x + residual, which the next block adds to, and
/// y = RMSNorm(h) * weight. Both are stored, so 4 arrays move, and one reduction is left. A thread has as
/// little of a row as possible, 16 bytes of each array, so that a multiprocessor is full of threads; twice as
/// much, if all rows are then in flight at once. h is stored last, beside y, so that reads and writes come in
/// turns of a whole row. Source of RMSNorm: B. Zhang, R. Sennrich, Root Mean Square Layer Normalization,
/// 2019.
#pragma once
#include "14_half.cuh"

namespace DEVICE::relu_layernorm {

/// h = x + residual, rounded to T, and y = h / sqrt(mean of h^2 of its row + epsilon) * weight, for T = float
/// or __nv_bfloat16: rows and blocks as in half_rows(), each thread with `Pieces` pieces of its row. `Bits`
/// is uint4, for arrays and rows that begin at multiples of 16 bytes, or T. Traffic: reads 2 and writes 2
/// elements per element, and reads weight as half_rows() does.
template <class T, class Bits, int Pieces>
__global__ void __launch_bounds__(1024)
    residual_rms(const T* __restrict__ x, const T* __restrict__ residual, const T* __restrict__ weight,
                 T* __restrict__ h, T* __restrict__ y, int rows, int columns, float epsilon) {
  using P = Pack<T, Bits>;
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  const size_t first = static_cast<size_t>(r) * columns;
  const int pieces = r < rows ? columns / P::kCount : 0, t = threadIdx.x, threads = blockDim.x;
  const Bits* row = reinterpret_cast<const Bits*>(x + first);
  const Bits* residual_row = reinterpret_cast<const Bits*>(residual + first);

  // [row]
  P held[Pieces], added[Pieces];
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = t + j * threads;
    if (i >= pieces) continue;
    held[j].bits = row[i];
    added[j].bits = residual_row[i];
  }
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < Pieces; ++j)
#pragma unroll
    for (int e = 0; e < P::kCount; ++e) {
      held[j].element[e] = from_float<T>(to_float(held[j].element[e]) + to_float(added[j].element[e]));
      squares += to_float(held[j].element[e]) * to_float(held[j].element[e]);
    }
  const float inverse = rsqrtf(row_sum(squares) / static_cast<float>(columns) + epsilon);
  // [row]

  Bits* h_row = reinterpret_cast<Bits*>(h + first);
  Bits* y_row = reinterpret_cast<Bits*>(y + first);
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = t + j * threads;
    if (i >= pieces) continue;
    P weights;
    weights.bits = reinterpret_cast<const Bits*>(weight)[i];
    h_row[i] = held[j].bits;
#pragma unroll
    for (int e = 0; e < P::kCount; ++e)
      held[j].element[e] =
          from_float<T>(to_float(held[j].element[e]) * inverse * to_float(weights.element[e]));
    y_row[i] = held[j].bits;
  }
}

// --- On the host ---

/// Pieces of 16 bytes that a thread has of a row of whole vectors.
template <class T>
int residual_pieces(int rows, int columns) {
  constexpr int kWide = 16 / sizeof(T);
  if (columns > 1024 * kWide) return 16 / kWide;
  const long long threads = static_cast<long long>(rows) * row_threads(columns, 2 * kWide, 1024);
  return threads <= resident_threads() ? 2 : 1;
}

/// residual_rms() for rows that fits_registers() accepts: T is float or __nv_bfloat16.
template <class T>
void launch_residual_rms(const T* x, const T* residual, const T* weight, T* h, T* y, int rows, int columns,
                         float epsilon) {
  constexpr int kWide = 16 / sizeof(T);
  const bool wide = columns % kWide == 0 && are_aligned(x, residual, weight, h, y);
  const int pieces = residual_pieces<T>(rows, columns);
  const auto of_pieces = pieces == 1   ? residual_rms<T, uint4, 1>
                         : pieces == 2 ? residual_rms<T, uint4, 2>
                                       : residual_rms<T, uint4, 16 / kWide>;
  const dim3 block =
      wide ? rows_block(columns, kWide * pieces, 16, 1024) : rows_block(columns, 16, sizeof(T), 1024);
  launch(wide ? of_pieces : residual_rms<T, T, 16>, ceil_div(rows, block.y), block, x, residual, weight, h, y,
         rows, columns, epsilon);
}

template <class T>
struct ResidualRms {
  static constexpr Stage row =
      kAddsResidual.with({.name = kIsFloat<T> ? "16_residual" : "16_bfloat16",
                          .idea = kIsFloat<T> ? "the sibling: h = x + residual, then RMSNorm of h"
                                              : "the same in bfloat16: half the bytes",
                          .output = {&kH<T>, &kYRms<T>}});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch_residual_rms<T>(data[kXOf<T>], data[kResidual<T>], data[kWeightOf<T>], data[kH<T>], data[kYRms<T>],
                           s.rows, s.columns, kEpsilon);
  }
  /// weight is read once per row, or per warp: the first time from memory, then from a cache.
  static Traffic traffic(const Shape& s) {
    const int bytes = sizeof(T), wide = s.dims[1] % (16 / bytes) == 0 ? 16 / bytes : 1;
    const int each = wide == 1 ? 16 : wide * residual_pieces<T>(s.dims[0], s.dims[1]);
    const int lanes = row_lanes(s.dims[1], each, bytes * wide);
    const long long once = 2 * rows_once(s, lanes, bytes, wide), weight = sector_bytes(columns(s), bytes);
    const long long times = ceil_div(s.dims[0], 32 / lanes);
    return {once + times * weight, once, (times - 1) * weight};
  }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

}  // namespace DEVICE::relu_layernorm
