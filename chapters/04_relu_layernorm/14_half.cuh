/// \file
/// Stage 14: fewer bytes per element. x, weight, bias and y are float16 or bfloat16; the arithmetic is in
/// float32, and the result is rounded once. The row stays in registers as it came, two elements in each; it
/// is widened again in every pass. With half the bytes, the instructions take as long as memory: so they take
/// two elements at once where they can.
#pragma once
#include "11_warp_a_row.cuh"
#include "halves.hpp"
#include "pack.hpp"
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// Two neighbouring elements.
template <class T>
struct PairOf;
template <>
struct PairOf<__half> {
  using Pair = __half2;
  static __device__ float2 widened(Pair x) { return __half22float2(x); }
  static __device__ Pair rounded(float x, float y) { return __floats2half2_rn(x, y); }
};
template <>
struct PairOf<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  /// bfloat16 is the upper half of a float: one instruction per element, where __bfloat1622float2() takes
  /// three for two (nvcc 13.0).
  static __device__ float2 widened(Pair x) {
    const unsigned bits = reinterpret_cast<const unsigned&>(x);
    return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000));
  }
  static __device__ Pair rounded(float x, float y) { return __floats2bfloat162_rn(x, y); }
};

/// An element of an access and the next one; its index is even.
template <class T>
__device__ typename PairOf<T>::Pair& pair_at(T& element) {
  return reinterpret_cast<typename PairOf<T>::Pair&>(element);
}
template <class T>
__device__ const typename PairOf<T>::Pair& pair_at(const T& element) {
  return reinterpret_cast<const typename PairOf<T>::Pair&>(element);
}

/// x = max(x, 0) for the elements of one access; a NaN stays one.
template <class T, int Count>
__device__ void relu_in_place(T (&x)[Count]) {
  const T zero = from_float<T>(0.0f);
  if constexpr (Count == 1) {
    x[0] = __hmax_nan(x[0], zero);
  } else {
#pragma unroll
    for (int e = 0; e < Count; e += 2) pair_at(x[e]) = __hmax2_nan(pair_at(x[e]), {zero, zero});
  }
}

/// The elements of one access as floats.
template <class T, class Bits>
struct Floats {
  static constexpr int kCount = Pack<T, Bits>::kCount;
  float of[kCount];

  __device__ explicit Floats(const Pack<T, Bits>& x) {
    if constexpr (kCount == 1) {
      of[0] = to_float(x.element[0]);
    } else {
#pragma unroll
      for (int e = 0; e < kCount; e += 2) {
        const float2 two = PairOf<T>::widened(pair_at(x.element[e]));
        of[e] = two.x;
        of[e + 1] = two.y;
      }
    }
  }

  __device__ Bits rounded() const {
    Pack<T, Bits> x;
    if constexpr (kCount == 1) {
      x.element[0] = from_float<T>(of[0]);
    } else {
#pragma unroll
      for (int e = 0; e < kCount; e += 2) pair_at(x.element[e]) = PairOf<T>::rounded(of[e], of[e + 1]);
    }
    return x.bits;
  }
};

/// The most threads of a block, and how many such blocks share the 65536 registers of a multiprocessor: with
/// two loads per thread 40 registers are enough, with four 64; an element loaded alone takes one of its own.
constexpr int kHalfThreads = 512;
template <class Bits, int Elements>
constexpr int kHalfBlocks = (Elements == 16 ? 3 : 2) - (sizeof(Bits) < 16);

/// The sum of `value` over the blockDim.x threads of a row, in each of them: lanes of a warp, a power of two
/// of them, or whole warps.
__device__ inline float row_sum(float value) {
  return blockDim.x < 32 ? lanes_sum(value, blockDim.x) : block_sum_by_warps(value);
}

/// y = the normalised row of relu(x), or with `ReluLast` relu of the normalised row of x, for T = __half or
/// __nv_bfloat16: blockDim.x threads per row, as for row_sum(), and blockDim.y rows per block, one if a row
/// has several warps; a thread has `Elements` of its row, columns <= Elements * blockDim.x. `Bits` is uint4,
/// for arrays and rows that begin at multiples of 16 bytes, or T. Traffic: reads 2 bytes and writes 2 bytes
/// per element, and reads weight and bias once per row, or once per warp if it has several rows.
template <class T, class Bits, int Elements, bool ReluLast>
__global__ void __launch_bounds__(kHalfThreads, kHalfBlocks<Bits, Elements>)
    half_rows(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
              T* __restrict__ y, int rows, int columns, float epsilon) {
  using P = Pack<T, Bits>;
  constexpr int kPieces = Elements / P::kCount;
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  const size_t first = static_cast<size_t>(r) * columns;
  const Bits* row = reinterpret_cast<const Bits*>(x + first);
  const int pieces = r < rows ? columns / P::kCount : 0, t = threadIdx.x, threads = blockDim.x;

  // [held]
  P held[kPieces];
#pragma unroll
  for (int j = 0; j < kPieces; ++j)
    if (t + j * threads < pieces) held[j].bits = row[t + j * threads];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    if constexpr (!ReluLast) relu_in_place(held[j].element);
    const Floats values(held[j]);
#pragma unroll
    for (const float value : values.of) sum += value;
  }
  // [held]
  const float mean = row_sum(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    if (t + j * threads >= pieces) continue;
    const Floats values(held[j]);
#pragma unroll
    for (const float value : values.of) squares += (value - mean) * (value - mean);
  }
  const float inverse = rsqrtf(row_sum(squares) / static_cast<float>(columns) + epsilon);

  Bits* out = reinterpret_cast<Bits*>(y + first);
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    const int i = t + j * threads;
    if (i >= pieces) continue;
    P weights, biases;
    weights.bits = reinterpret_cast<const Bits*>(weight)[i];
    biases.bits = reinterpret_cast<const Bits*>(bias)[i];
    Floats values(held[j]), scales(weights), shifts(biases);
#pragma unroll
    for (int e = 0; e < P::kCount; ++e)
      values.of[e] = affine(values.of[e] - mean, inverse, scales.of[e], shifts.of[e]);
    P result;
    result.bits = values.rounded();
    if constexpr (ReluLast) relu_in_place(result.element);
    out[i] = result.bits;
  }
}

// --- On the host ---

/// Blocks for rows of which each thread has `each` elements, in accesses of `access` bytes. Rows that one
/// warp holds share a block as in stage 11, because starting a block for each of them takes longer, and rows
/// that a part of a warp holds share the warp.
inline dim3 rows_block(int columns, int each, int access, int most) {
  const int lanes = row_lanes(columns, each, access);
  const int threads = lanes < 32 ? lanes : row_threads(columns, each, most);
  return dim3(static_cast<unsigned>(threads),
              static_cast<unsigned>(threads <= 32 ? WarpPerRow::kBlock / threads : 1));
}

/// Elements that a thread has of its row: 32, because half the threads need half the barriers and half the
/// instructions to add up a row; or 16 in rows of which a warp would hold more than two, where 32 were
/// slower.
inline int half_elements(int columns) { return columns <= 16 * 16 ? 16 : 32; }

/// half_rows() for rows that fits_registers() accepts: T is __half or __nv_bfloat16.
template <class T, bool ReluLast>
void launch_half_rows(const T* x, const T* weight, const T* bias, T* y, int rows, int columns,
                      float epsilon) {
  const bool eight = columns % 8 == 0 && are_aligned(x, weight, bias, y);
  const int each = half_elements(columns), access = eight ? 16 : 2;
  const auto of_eight = each == 16 ? half_rows<T, uint4, 16, ReluLast> : half_rows<T, uint4, 32, ReluLast>;
  const auto of_one = each == 16 ? half_rows<T, T, 16, ReluLast> : half_rows<T, T, 32, ReluLast>;
  const dim3 block = rows_block(columns, each, access, kHalfThreads);
  launch(eight ? of_eight : of_one, ceil_div(rows, block.y), block, x, weight, bias, y, rows, columns,
         epsilon);
}

template <class T>
struct HalfRows {
  static constexpr Stage row =
      kNormalises.with({.name = kIsFloat16<T> ? "14_float16" : "14_bfloat16",
                        .idea = kIsFloat16<T> ? "half the bytes: float16 in and out, float32 between"
                                              : "half the bytes: bfloat16 in and out, float32 between",
                        .output = {&kHalfY<T>},
                        .needs = kRegisters});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch_half_rows<T, false>(data[kXOf<T>], data[kWeightOf<T>], data[kBiasOf<T>], data[kHalfY<T>], s.rows,
                               s.columns, kEpsilon);
  }
  /// Weight and bias are read once per row, or per warp: the first time from memory, then from a cache.
  static Traffic traffic(const Shape& s) {
    const int wide = s.dims[1] % 8 == 0 ? 8 : 1, each = half_elements(s.dims[1]);
    const int lanes = row_lanes(s.dims[1], each, 2 * wide);
    const long long once = rows_once(s, lanes, 2, wide), parameters = 2 * sector_bytes(columns(s), 2);
    const long long times = ceil_div(s.dims[0], 32 / lanes);
    return {once + times * parameters, once, (times - 1) * parameters};
  }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

}  // namespace DEVICE::relu_layernorm
