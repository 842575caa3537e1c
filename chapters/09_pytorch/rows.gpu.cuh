/// \file
/// For the kernels that work on rows: which threads share a row, and the part of it that each of them keeps.
#pragma once
#include "../04_relu_layernorm/11_warp_a_row.cuh"
#include "../04_relu_layernorm/14_half.cuh"
#include "kernels.gpu.cuh"
#include "sums.hpp"

namespace DEVICE::operators {

/// Elements of each array that a thread keeps of its row, which is read again where it is longer than that.
constexpr int kHeld = 16;
constexpr int kShortThreads = 128, kMostThreads = 512;

/// `lanes` neighbouring threads share a row: 8, 16 or 32 of them, or if more, the whole block.
struct Place {
  unsigned lanes, t;
  size_t row;
  __device__ explicit Place(unsigned lanes)
      : lanes(lanes),
        t(threadIdx.x % lanes),
        row(static_cast<size_t>(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes) {}
  /// The sum of `value` over the threads of the row, in each of them.
  __device__ double sum(double value) const;
  __device__ float sum(float value) const {
    return lanes <= 32 ? relu_layernorm::lanes_sum(value, static_cast<int>(lanes))
                       : block_sum_by_warps(value);
  }
};

/// As block_sum_by_warps().
__device__ inline double Place::sum(double value) const {
  __shared__ double sums[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = lanes / 32;
  const auto over = [](double mine, unsigned count) {
    for (unsigned distance = count / 2; distance > 0; distance /= 2)
      mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    return mine;
  };
  if (lanes <= 32) return over(value, lanes);
  value = over(value, 32);
  __syncthreads();  // every thread has read the sums of an earlier call
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  return over(lane < warps ? sums[lane] : 0.0, 32);
}

/// A thread's vectors of a row of `Arrays` arrays, as floats: t, t + lanes and so on. load(i, floats) loads
/// vector i of each. The first ones are loaded once and kept, all others whenever they are needed.
template <int Arrays, int Width, class Load>
struct Row {
  static constexpr int kVectors = kHeld / Width;
  unsigned vectors, lanes, t;
  Load load;
  float held[kVectors][Arrays][Width];

  __device__ Row(const Place& place, unsigned vectors, Load load)
      : vectors(vectors), lanes(place.lanes), t(place.t), load(load) {
#pragma unroll
    for (int j = 0; j < kVectors; ++j)
      if (t + j * lanes < vectors) load(t + j * lanes, held[j]);
  }
  template <class Function>
  __device__ void each(Function function) const {
#pragma unroll
    for (int j = 0; j < kVectors; ++j)
      if (t + j * lanes < vectors) function(t + j * lanes, held[j]);
    for (size_t i = t + size_t{kVectors} * lanes; i < vectors; i += lanes) {
      float again[Arrays][Width];
      load(static_cast<unsigned>(i), again);
      function(static_cast<unsigned>(i), again);
    }
  }
};

/// The elements as floats; of 16-bit elements two at once, as in stage 14 of chapter 04.
template <int Width, class T>
__device__ void widen_vector(const Vector<Width, T>& from, float (&to)[Width]) {
  if constexpr (Width > 1 && sizeof(T) == 2) {
#pragma unroll
    for (int j = 0; j < Width; j += 2) {
      const float2 two = relu_layernorm::PairOf<T>::widened(relu_layernorm::pair_at(from.element[j]));
      to[j] = two.x;
      to[j + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < Width; ++j) to[j] = to_float(from.element[j]);
  }
}
template <class T, int Width>
__device__ Vector<Width, T> round_vector(const float (&from)[Width]) {
  Vector<Width, T> to;
  if constexpr (Width > 1 && sizeof(T) == 2) {
#pragma unroll
    for (int j = 0; j < Width; j += 2)
      relu_layernorm::pair_at(to.element[j]) = relu_layernorm::PairOf<T>::rounded(from[j], from[j + 1]);
  } else {
#pragma unroll
    for (int j = 0; j < Width; ++j) to.element[j] = from_float<T>(from[j]);
  }
  return to;
}

/// Vector i of an array as floats.
template <int Width, class T>
__device__ void load_vector(const T* array, size_t i, float (&to)[Width]) {
  widen_vector(reinterpret_cast<const Vector<Width, T>*>(array)[i], to);
}
template <int Width, class T>
__device__ void store_vector(T* array, size_t i, const float (&from)[Width]) {
  reinterpret_cast<Vector<Width, T>*>(array)[i] = round_vector<T>(from);
}

// --- On the host ---

/// Rows whose threads belong to one warp; a stage with a block per row has too little work for one.
inline bool is_short(int columns) { return columns <= 32 * kHeld; }

/// Threads that share a row of which each has `each` elements, at most `most` of them.
inline unsigned lanes_of(int columns, int each = kHeld, int most = kMostThreads) {
  int lanes = 8;
  while (lanes < 32 && lanes * each < columns) lanes *= 2;
  return static_cast<unsigned>(lanes * each < columns ? relu_layernorm::row_threads(columns, each, most)
                                                      : lanes);
}

/// Threads of a block whose rows have so many each.
inline unsigned block_threads(unsigned lanes) { return lanes <= 32 ? unsigned{kShortThreads} : lanes; }

/// How the threads share rows: `lanes` for each, in blocks of `threads`.
struct RowGrid {
  unsigned lanes, threads, blocks;
  RowGrid(int rows, int columns)
      : lanes(lanes_of(columns)),
        threads(block_threads(lanes)),
        blocks((static_cast<unsigned>(rows) - 1) / (threads / lanes) + 1) {}
};

/// Starts a kernel that takes arrays, rows, columns, the lanes of a row, and what else there is.
template <class Kernel, class Arrays, class... More>
void launch_rows(Kernel kernel, const Arrays& arrays, int rows, int columns, More... more) {
  const RowGrid grid(rows, columns);
  launch(kernel, grid.blocks, grid.threads, arrays, static_cast<unsigned>(rows),
         static_cast<unsigned>(columns), grid.lanes, more...);
}

}  // namespace DEVICE::operators
