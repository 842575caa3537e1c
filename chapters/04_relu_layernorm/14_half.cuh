/// \file
/// Stage 14: fewer bytes per element. x, weight, bias and y are float16 or bfloat16; the arithmetic is in
/// float32, and the result is rounded once. The row stays in registers as it came, two elements in each, so
/// that a thread has room for four loads of 16 bytes at once; it is widened again in every pass.
#pragma once
#include "halves.hpp"
#include "pack.hpp"
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// Accesses of 16 bytes that a thread makes to a row, and the elements that they hold.
constexpr int kHalfPieces = 4, kHalfElements = 8 * kHalfPieces;

/// At most 80 registers per thread, because 768 threads share the 65536 of a multiprocessor.
constexpr int kHalfThreads = 768;

/// y = the normalised row of relu(x) for T = __half or __nv_bfloat16: blockDim.x threads in whole warps per
/// row, and as many rows per block as blockDim.y, one if a row has several warps; columns <= kHalfElements *
/// blockDim.x. `Bits` is uint4, for arrays and rows that begin at multiples of 16 bytes, or T. Traffic: reads
/// 2 bytes and writes 2 bytes per element, and reads weight and bias once per row.
template <class T, class Bits>
__global__ void __launch_bounds__(kHalfThreads, 1)
    half_rows(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
              T* __restrict__ y, int rows, int columns, float epsilon) {
  using P = Pack<T, Bits>;
  constexpr int kPieces = kHalfElements / P::kCount;
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  const size_t first = static_cast<size_t>(r) * columns;
  const Bits* row = reinterpret_cast<const Bits*>(x + first);
  const int pieces = columns / P::kCount, t = threadIdx.x, threads = blockDim.x;

  // [held]
  P held[kPieces];
#pragma unroll
  for (int j = 0; j < kPieces; ++j)
    if (t + j * threads < pieces) held[j].bits = row[t + j * threads];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kPieces; ++j)
#pragma unroll
    for (T& element : held[j].element) {
      element = __hmax_nan(element, from_float<T>(0.0f));
      sum += to_float(element);
    }
  // [held]
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kPieces; ++j)
#pragma unroll
    for (const T element : held[j].element) {
      const float distance = t + j * threads < pieces ? to_float(element) - mean : 0.0f;
      squares += distance * distance;
    }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  Bits* out = reinterpret_cast<Bits*>(y + first);
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    const int i = t + j * threads;
    if (i >= pieces) continue;
    P weights, biases;
    weights.bits = reinterpret_cast<const Bits*>(weight)[i];
    biases.bits = reinterpret_cast<const Bits*>(bias)[i];
#pragma unroll
    for (int e = 0; e < P::kCount; ++e)
      held[j].element[e] = from_float<T>(affine(to_float(held[j].element[e]) - mean, inverse,
                                                to_float(weights.element[e]), to_float(biases.element[e])));
    out[i] = held[j].bits;
  }
}

// --- On the host ---

/// T is __half or __nv_bfloat16.
template <class T>
struct HalfRows {
  static void run(const Data& data) {
    const Halves<T> a = half_arrays<T>(data);
    const int rows = data.shape.dims[0], columns = data.shape.dims[1];
    const bool eight = columns % 8 == 0 && are_aligned(a.x, a.weight, a.bias, a.y);
    const dim3 block = rows_block(columns, kHalfElements, kHalfThreads);
    launch(eight ? half_rows<T, uint4> : half_rows<T, T>, ceil_div(rows, block.y), block, a.x, a.weight,
           a.bias, a.y, rows, columns, kEpsilon);
  }
  /// Weight and bias are read once per row: the first time from memory, then from a cache.
  static Traffic traffic(const Shape& s) {
    const int wide = s.dims[1] % 8 == 0 ? 8 : 1;
    const long long rows_once = row_sector_bytes(s, 2, wide), parameters = 2 * sector_bytes(columns(s), 2);
    return {rows_once + rows(s) * parameters, rows_once, (rows(s) - 1) * parameters};
  }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

}  // namespace DEVICE::relu_layernorm
