/// \file
/// For the kernels of this chapter: rows in pieces of 16 bytes, what follows the sum over the GPUs, and how
/// rows are spread over blocks.
#pragma once
#include "pack.hpp"
#include "problem.cuh"
#include "sums.hpp"

namespace DEVICE::several_gpus {

template <class T>
__device__ const uint4* pieces_of(const T* array) {
  return reinterpret_cast<const uint4*>(array);
}
template <class T>
__device__ uint4* pieces_of(T* array) {
  return reinterpret_cast<uint4*>(array);
}

/// sum[e] += the e-th element of the piece.
template <class T>
__device__ void add(float (&sum)[Pack<T>::kCount], const Pack<T>& piece) {
#pragma unroll
  for (int e = 0; e < Pack<T>::kCount; ++e) sum[e] += to_float(piece.element[e]);
}

// [finish]
/// A thread's pieces of a row of h: piece j is number threadIdx.x + j * blockDim.x of the row.
template <class T, int Pieces>
struct HeldRow {
  Pack<T> h[Pieces];
  float squares = 0.0f;

  /// h = sum + residual, rounded to T, is piece j.
  __device__ void keep(int j, float (&sum)[Pack<T>::kCount], const Pack<T>& residual) {
    add(sum, residual);
#pragma unroll
    for (int e = 0; e < Pack<T>::kCount; ++e) {
      h[j].element[e] = from_float<T>(sum[e]);
      squares += to_float(h[j].element[e]) * to_float(h[j].element[e]);
    }
  }
  /// 1 / sqrt(mean of h^2 over the row + epsilon); all threads of the block call it.
  __device__ float inverse_rms(int columns) const {
    return rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + kEpsilon);
  }
  /// The bits of piece j of y = h * inverse * weight.
  __device__ uint4 normalised(int j, float inverse, const Pack<T>& weight) const {
    Pack<T> y;
#pragma unroll
    for (int e = 0; e < Pack<T>::kCount; ++e)
      y.element[e] = from_float<T>(to_float(h[j].element[e]) * inverse * to_float(weight.element[e]));
    return y.bits;
  }
};
// [finish]

// --- On the host ---

/// Rows of whole pieces, which 1024 threads can hold, in arrays that begin at a piece.
template <class T>
bool suits_rows(const Shape& s) {
  return gpus(s) <= kMostGpus && columns(s) % Pack<T>::kCount == 0 && columns(s) * int{sizeof(T)} <= 65536;
}
constexpr const char* kRows = "up to 8 GPUs and rows of whole 16 bytes, up to 64 KiB";

/// The row that stages share that normalise rows in the type T.
template <class T>
constexpr Stage kNormalises = {
    .output = {&kH<T>, &kY<T>}, .roundings = roundings, .exact_roundings = exact_roundings, .needs = kRows};

/// Pieces of a thread, a power of two, so that at most 1024 threads have a row.
template <class T>
int pieces_of_thread(int columns) {
  const int pieces = columns / Pack<T>::kCount;
  return pieces <= 1024 ? 1 : pieces <= 2048 ? 2 : 4;
}
/// Whole warps that have a row.
template <class T>
int threads_of_row(int columns) {
  return ceil_div(columns / Pack<T>::kCount, 32 * pieces_of_thread<T>(columns)) * 32;
}

/// Blocks that take turns at so many rows: enough to fill the GPU.
template <class T>
int blocks_for(long long rows, int columns) {
  const int at_once = multiprocessors() * (1024 / threads_of_row<T>(columns));
  const int most = at_once < kMostBlocks ? at_once : kMostBlocks;
  return rows < most ? static_cast<int>(rows) : most;
}

/// Calls launch_with(a number of pieces that the compiler knows).
template <class T, class Launch>
void with_pieces(int columns, const Launch& launch_with) {
  switch (pieces_of_thread<T>(columns)) {
    case 1:
      return launch_with(std::integral_constant<int, 1>());
    case 2:
      return launch_with(std::integral_constant<int, 2>());
    default:
      return launch_with(std::integral_constant<int, 4>());
  }
}

/// Bytes of `rows` rows of whole pieces that begin at multiples of 16 bytes, as sectors.
template <class T>
long long bytes_of_rows(const Shape& s, long long rows) {
  return row_sector_bytes({{static_cast<int>(rows), s.dims[2]}}, sizeof(T), Pack<T>::kCount);
}

/// What so many meetings of so many blocks cost at the least: each sets a flag on each GPU, reads its own
/// count, and finds each flag set when it looks first.
inline Traffic meetings_traffic(const Shape& s, int blocks, int meetings) {
  const long long times = 32ll * meetings * blocks * gpus(s);
  Traffic traffic = {2 * times, gpus(s) * times, 2 * times};
  traffic.peer_write_bytes = (gpus(s) - 1) * times;
  return traffic;
}

}  // namespace DEVICE::several_gpus
