/// \file
/// For stages 12 and 13: tiles in bfloat16 that are copied asynchronously, and how accumulators of mma.sync
/// become operands. Compute capability 8.0.
#pragma once
#include "exp2.gpu.cuh"
#include "mma.gpu.cuh"
#include "problem.cuh"
#include "row_vectors.hpp"

namespace DEVICE::attention {

/// Swizzled tiles start at a multiple of this many bytes, so that the position of a chunk can be changed by
/// an exclusive or with its address.
constexpr unsigned kMmaAlignment = 256;

/// The block's dynamic shared memory from the first multiple of kMmaAlignment on.
__device__ inline unsigned char* aligned_shared() {
  auto* memory = dynamic_shared<unsigned char>();
  return memory + (0u - shared_address(memory)) % kMmaAlignment;
}

/// A matrix of rows x d elements in global memory.
struct HalfMatrix {
  const __nv_bfloat16* start;
  int rows, d;
  bool aligned;  ///< every row starts at a multiple of 16 bytes

  /// `known`: that rows do is known when the kernel is compiled.
  __device__ HalfMatrix(const __nv_bfloat16* start, int rows, int d, bool known = false)
      : start(start), rows(rows), d(d), aligned(known || starts_vectors(start, d)) {}
};

// [copy]
/// Starts the copy of the rows from `first` on, Rows of them, into a tile with rows of 2 D bytes, by the
/// Threads threads that call it with their number `t`. Chunk c, of 16 bytes, of row r is stored at position
/// c ^ Swizzle::of(r). Elements outside the matrix become 0. Rows that do not start at multiples of 16 bytes
/// are copied by ordinary loads instead.
template <int D, int Rows, int Threads, class Swizzle>
__device__ inline void copy_tile(unsigned char* tile, const HalfMatrix& from, int first, int t) {
  constexpr int kChunks = D / 8, kApart = Threads / kChunks;
  constexpr bool kRepeats = kApart % Swizzle::kPeriod == 0;  // then all rows of a thread have one swizzle
  const int r0 = t / kChunks, c = t % kChunks, left = from.d - c * 8, of_first = Swizzle::of(r0);
  const auto place = [&](int r) { return r * 2 * D + (c ^ (kRepeats ? of_first : Swizzle::of(r))) * 16; };
  const __nv_bfloat16* source = from.start + static_cast<size_t>(first + r0) * from.d + c * 8;
  if (from.aligned) {
    const unsigned to = shared_address(tile);
    const int left_rows = left > 0 ? from.rows - first : 0;
    const auto copy = [&](int r, int bytes) {
      cp_async_16(to + place(r0 + r), source + static_cast<size_t>(r) * from.d, bytes);
    };
    if (Rows % kApart == 0 && left_rows >= Rows) {  // most tiles
#pragma unroll
      for (int r = 0; r < Rows; r += kApart) copy(r, 16);
    } else {
#pragma unroll
      for (int r = 0; r < Rows; r += kApart)
        if (Rows % kApart == 0 || r0 + r < Rows) copy(r, r0 + r < left_rows ? 16 : 0);
    }
  } else {
#pragma unroll 1
    for (int r = r0; r < Rows; r += kApart, source += static_cast<size_t>(kApart) * from.d)
      *reinterpret_cast<uint4*>(tile + place(r)) =
          first + r < from.rows ? load_eight(source, left, false) : uint4{};
  }
}
// [copy]

/// The swizzle of chapter 06: the same chunk of eight successive rows is in different banks.
struct ByRow {
  static constexpr int kPeriod = 8;  // rows, after which it is the same again
  __device__ static int of(int row) { return row % 8; }
};

/// Two floats as a register of an operand of mma.sync.
__device__ inline unsigned as_operand(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&pair);
}

/// The largest, and the sum, of a value of the four lanes that share the rows of an accumulator, in each.
__device__ inline float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ inline float quad_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

}  // namespace DEVICE::attention
