/// \file
/// Stage 6: along the other dimension. Lanes lie side by side in a row, each with columns of its own, so that
/// loads stay coalesced and no lane adds for another. Where there are few columns, blocks share out the rows,
/// and the same kernel adds up what they found.
#pragma once
#include "5_vectorised.cuh"

namespace DEVICE::relu_layernorm {

constexpr int kTileVectors = 32, kTileRows = 16;

struct Itself {
  static __device__ float of(float x) { return x; }
};

template <class Term>
__device__ void add(float& sum, float x) {
  sum += Term::of(x);
}
template <class Term>
__device__ void add(float4& sum, float4 x) {
  sum.x += Term::of(x.x);
  sum.y += Term::of(x.y);
  sum.z += Term::of(x.z);
  sum.w += Term::of(x.w);
}
__device__ inline float over(float sum, float divisor) { return sum / divisor; }
__device__ inline float4 over(float4 sum, float divisor) {
  return make_float4(sum.x / divisor, sum.y / divisor, sum.z / divisor, sum.w / divisor);
}

/// out[s * columns + c] = the sum of the terms of column c over slice s of the rows, over `divisor`: a grid
/// of column tiles x slices, blocks of kTileVectors x kTileRows threads. `Vector` is float4, for rows that
/// begin at multiples of 16 bytes, or float. Reads 4 bytes per element.
template <class Term, class Vector>
__global__ void reduce_columns(const float* __restrict__ x, float* __restrict__ out, int rows, int columns,
                               float divisor) {
  constexpr int kLoads = 4;
  __shared__ Vector tile[kTileRows][kTileVectors];
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int c = blockIdx.x * kTileVectors + threadIdx.x, apart = gridDim.y * kTileRows;
  const Vector* column = reinterpret_cast<const Vector*>(x) + c;
  Vector sum = {};
  for (int first = blockIdx.y * kTileRows + threadIdx.y; first < rows; first += kLoads * apart) {
    Vector loaded[kLoads];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const int r = first + j * apart;
      loaded[j] = c < vectors && r < rows ? column[static_cast<size_t>(r) * vectors] : Vector{};
    }
#pragma unroll
    for (int j = 0; j < kLoads; ++j) add<Term>(sum, loaded[j]);
  }
  tile[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTileRows / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
      add<Itself>(sum, tile[threadIdx.y + half][threadIdx.x]);
      tile[threadIdx.y][threadIdx.x] = sum;
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < vectors)
    reinterpret_cast<Vector*>(out)[static_cast<size_t>(blockIdx.y) * vectors + c] = over(sum, divisor);
}

}  // namespace DEVICE::relu_layernorm
