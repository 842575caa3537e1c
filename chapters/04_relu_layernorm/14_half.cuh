/// \file
/// Stage 14: fewer bytes per element. x and y are float16 or bfloat16; sums, mean and variance stay in
/// float32, as weight and bias do, and the result is rounded once.
#pragma once
#include "halves.hpp"
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// Four elements in 8 bytes, so that the four weights of a lane are 16 bytes.
template <class T>
union Four {
  uint2 bits;
  T element[4];
  __device__ Four() : bits() {}
};

template <class T>
__device__ inline float4 widened(uint2 bits) {
  Four<T> four;
  four.bits = bits;
  return make_float4(to_float(four.element[0]), to_float(four.element[1]), to_float(four.element[2]),
                     to_float(four.element[3]));
}
template <class T>
__device__ inline float widened(T element) {
  return to_float(element);
}

template <class T>
__device__ inline uint2 narrowed(float4 v) {
  Four<T> four;
  four.element[0] = from_float<T>(v.x);
  four.element[1] = from_float<T>(v.y);
  four.element[2] = from_float<T>(v.z);
  four.element[3] = from_float<T>(v.w);
  return four.bits;
}
template <class T>
__device__ inline T narrowed(float v) {
  return from_float<T>(v);
}

/// y = the normalised row of relu(x) for T = __half or __nv_bfloat16, one block of whole warps per row,
/// columns <= 16 * blockDim.x. `Bits` is uint2, four elements, for arrays and rows that begin at multiples of
/// 16 bytes (x and y: of 8), or T. Traffic: reads 2 bytes and writes 2 bytes per element, and reads weight
/// and bias once per row.
template <class T, class Bits>
__global__ void __launch_bounds__(1024)
    half_rows(const T* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
              T* __restrict__ y, int columns, float epsilon) {
  using Vector = decltype(widened<T>(Bits{}));
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Bits* row = reinterpret_cast<const Bits*>(x + first);
  const int vectors = columns / kWidth<Vector>, threads = blockDim.x;
  const int t = threadIdx.x;
  Bits loaded[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j)
    if (t + j * threads < vectors) loaded[j] = row[t + j * threads];

  Vector held[kHeld<Vector>];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = t + j * threads < vectors ? relu(widened<T>(loaded[j])) : Vector{};
    sum += sum_of(held[j]);
  }
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += t + j * threads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  const Vector* weights = reinterpret_cast<const Vector*>(weight);
  const Vector* biases = reinterpret_cast<const Vector*>(bias);
  Bits* out = reinterpret_cast<Bits*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * threads;
    if (i < vectors) out[i] = narrowed<T>(affine(held[j], inverse, weights[i], biases[i]));
  }
}

// --- On the host ---

/// T is __half or __nv_bfloat16.
template <class T>
struct HalfRows {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    const Halves<T> half = half_arrays<T>(data);
    const bool four = a.columns % 4 == 0 && aligned(half.x, 8) && aligned(half.y, 8) && aligned(a.weight) &&
                      aligned(a.bias);
    launch(four ? half_rows<T, uint2> : half_rows<T, T>, a.rows, row_threads(a.columns, kHeldBytes / 4, 1024),
           half.x, a.weight, a.bias, half.y, a.columns, kEpsilon);
  }
  static Traffic traffic(const Shape& s) {
    const long long rows_once = row_sector_bytes(s, 2, width(s));
    return with_parameters(s, rows_once, rows_once, rows(s));
  }
  static bool suits(const Shape& s) { return fits_registers(s); }
};

}  // namespace DEVICE::relu_layernorm
