/// \file
/// Stage 6: along the other dimension. The lanes of a warp are side by side in a row, each with its own
/// columns, so loads stay coalesced and no lane needs another's sum. Where there are few columns, each block
/// takes a slice of the rows, and where there is more than one, the same kernel then adds up their sums.
#pragma once
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

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
__device__ inline float divide(float sum, float divisor) { return sum / divisor; }
__device__ inline float4 divide(float4 sum, float divisor) {
  return make_float4(sum.x / divisor, sum.y / divisor, sum.z / divisor, sum.w / divisor);
}

/// out[s * columns + c] = the sum of the terms of column c in slice s of the rows, divided by `divisor`: a
/// grid of column tiles x slices, blocks of kTileVectors x kTileRows threads. `Vector` is float4, for rows
/// that begin at multiples of 16 bytes, or float. At most 32 registers per thread: with two more, only three
/// blocks would fit a multiprocessor, and not all of the grid would run at once. Reads 4 bytes per element.
template <class Term, class Vector>
__global__ void __launch_bounds__(kTileVectors* kTileRows, 4)
    reduce_columns(const float* __restrict__ x, float* __restrict__ out, int rows, int columns,
                   float divisor) {
  constexpr int kLoads = 4;
  __shared__ Vector tile[kTileRows][kTileVectors];
  const int vectors = columns / kWidth<Vector>;
  const int c = blockIdx.x * kTileVectors + threadIdx.x, apart = gridDim.y * kTileRows;
  const Vector* column = reinterpret_cast<const Vector*>(x) + c;
  Vector sum = {};
  // [down]
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
  // [down]
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
    reinterpret_cast<Vector*>(out)[static_cast<size_t>(blockIdx.y) * vectors + c] = divide(sum, divisor);
}

// --- On the host ---

/// out[c] = the sum of the terms of column c, divided by `divisor`: the sums of the slices and then their
/// sum, or that of the only slice. `slice_sums` has room for slices * columns floats.
template <class Term>
void launch_reduce_columns(const float* x, float* slice_sums, float* out, int rows, int columns, int slices,
                           float divisor) {
  const bool one = slices == 1, four = columns % 4 == 0 && are_aligned(x, slice_sums, out);
  const unsigned tiles = static_cast<unsigned>(ceil_div(columns, kTileVectors * (four ? 4 : 1)));
  const dim3 block(kTileVectors, kTileRows);
  launch(four ? reduce_columns<Term, float4> : reduce_columns<Term, float>,
         dim3(tiles, static_cast<unsigned>(slices)), block, x, one ? out : slice_sums, rows, columns,
         one ? divisor : 1.0f);
  if (!one)
    launch(four ? reduce_columns<Itself, float4> : reduce_columns<Itself, float>, tiles, block, slice_sums,
           out, slices, columns, divisor);
}

template <class Term>
void run_columns(const Data& data, float* out, float divisor) {
  const Sizes s = sizes(data.shape);
  launch_reduce_columns<Term>(data[kX], data[kSliceSums], out, s.rows, s.columns, slices(data.shape),
                              divisor);
}

/// A thread's rows of a slice, the tree, and the slices.
inline int column_roundings(const Shape& s) {
  return chain_roundings(ceil_div(s.dims[0], kTileRows * slices(s)) + slices(s));
}

/// The row that stages share that reduce columns: in two kernels, or in one where a slice has all rows.
constexpr Stage kReducesColumns = {.kernels = kAnyNumber,
                                   .roundings = column_roundings,
                                   .exact_roundings = exact_sum_roundings,
                                   .against = "06_columns"};
struct Columns {
  static constexpr Stage row =
      kReducesColumns.with({.name = "06_columns",
                            .idea = "along the columns: lanes side by side, no lane needs another's sum",
                            .output = {&kMeans}});
  static void run(const Data& data) {
    run_columns<Magnitude>(data, data[kMeans], static_cast<float>(data.shape.dims[0]));
  }
  static Traffic traffic(const Shape& s) {
    const Shape partial = {{slices(s), s.dims[1], 1}}, result = {{1, s.dims[1], 1}};
    const long long between = slices(s) == 1 ? 0 : once(partial, width(s));
    return {once(s, width(s)) + between, between + once(result, width(s))};
  }
};

struct ColumnSquares {
  static constexpr Stage row =
      kReducesColumns.with({.name = "06_squares",
                            .idea = "the same kernel, squares: the sum of each column",
                            .output = {&kColumnSquares}});
  static void run(const Data& data) { run_columns<Square>(data, data[kColumnSquares], 1.0f); }
  static Traffic traffic(const Shape& s) { return Columns::traffic(s); }
};

}  // namespace DEVICE::relu_layernorm
