/// \file
/// Stage 8: the row stays on the multiprocessor between the two passes, so it is read once: in registers, and
/// in shared memory where the registers are too few. Warps reduce by shuffles.
#pragma once
#include "05_corrected.cuh"
#include "07_one_kernel.cuh"

namespace DEVICE::quantize_int8 {

// [warp_largest]
/// The largest `value` of the 32 lanes of the warp, in every lane.
__device__ inline float warp_largest(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}
// [warp_largest]

// [by_warps]
/// The same over a block of up to 1024 threads, whole warps: each warp finds its largest value, then every
/// warp the largest of these.
__device__ inline float block_largest_by_warps(float value) {
  __shared__ float found[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_largest(value);
  if (blockDim.x == 32) return value;
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_largest(lane < blockDim.x / 32 ? found[lane] : 0.0f);
}
// [by_warps]

/// The largest absolute value in one vector.
__device__ inline float largest_of(float x) { return fabsf(x); }
__device__ inline float largest_of(float4 x) {
  return larger(larger(larger(larger(0.0f, fabsf(x.x)), fabsf(x.y)), fabsf(x.z)), fabsf(x.w));
}

/// Bytes and vectors of its row that a thread holds in registers.
constexpr int kHeldBytes = 64;
template <class Vector>
constexpr int kHeld = kHeldBytes / sizeof(Vector);

/// scales[r] and q of row r, one block per row. `Vector` is float4, for rows that begin at multiples of 16
/// bytes and q's of 4, or float. Thread t has the vectors t, t + blockDim.x and so on of its row: the first
/// kHeld in registers, the others in dynamic shared memory. No other thread reads them there, so no barrier
/// is needed. Traffic: reads 4 bytes and writes 1 byte per element.
template <class Vector>
__global__ void __launch_bounds__(1024) quantize_once(const float* __restrict__ x, float* __restrict__ scales,
                                                      signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float)), threads = blockDim.x;
  const int in_registers = kHeld<Vector> * threads, beyond = in_registers + threadIdx.x;
  // [staged]
  Vector* staged = dynamic_shared<Vector>();  // vector in_registers + i of the row is staged[i]
  for (int i = beyond; i < vectors; i += threads)
    __pipeline_memcpy_async(&staged[i - in_registers], &row[i], sizeof(Vector));
  __pipeline_commit();
  // [staged]

  // [held]
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    held[j] = i < vectors ? row[i] : Vector{};
  }
  float largest = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) largest = larger(largest, largest_of(held[j]));
  // [held]
  __pipeline_wait_prior(0);
  for (int i = beyond; i < vectors; i += threads)
    largest = larger(largest, largest_of(staged[i - in_registers]));

  // [stored]
  const Steps by = steps_of(scale_of(block_largest_by_warps(largest)), 0.0f);
  if (threadIdx.x == 0) scales[blockIdx.x] = by.scale;
  auto* out = reinterpret_cast<decltype(in_steps(Vector{}, by))*>(q + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * threads;
    if (i < vectors) out[i] = in_steps(held[j], by);
  }
  // [stored]
  for (int i = beyond; i < vectors; i += threads) out[i] = in_steps(staged[i - in_registers], by);
}

// --- On the host ---

/// Threads of a row that does not fit the registers of 1024: few enough that two blocks share a
/// multiprocessor of an H200, so that one reads while the other computes.
constexpr int kLongRowThreads = 512;

/// Bytes of a row of `columns` that are staged in shared memory.
inline int staged_bytes(int columns) {
  const bool held = columns <= 1024 * kHeldBytes / 4;
  return held ? 0 : 4 * columns - kLongRowThreads * kHeldBytes;
}

/// Whether a block can keep such a row: shared memory has room for the staged bytes, and for the largest
/// values of 32 warps.
inline bool stays_on_chip(int columns) { return staged_bytes(columns) + 128 <= most_shared_bytes(); }

template <class Vector>
void launch_once(const float* x, float* scales, signed char* q, int rows, int columns) {
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int shared_bytes = staged_bytes(columns);
  const int threads =
      shared_bytes > 0 ? kLongRowThreads : ceil_div(ceil_div(vectors, kHeld<Vector>), 32) * 32;
  launch_shared(quantize_once<Vector>, rows, threads, static_cast<size_t>(shared_bytes), x, scales, q,
                columns);
}

/// By vectors of four where all rows can be read as float4 and written as char4.
inline void launch_one_read(const float* x, float* scales, signed char* q, int rows, int columns) {
  const bool aligned =
      columns % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0 && reinterpret_cast<size_t>(q) % 4 == 0;
  aligned ? launch_once<float4>(x, scales, q, rows, columns)
          : launch_once<float>(x, scales, q, rows, columns);
}

/// Rows that are too long for a block are left to stage 7.
struct OneRead {
  static constexpr Stage row =
      kScalePerRow.with({.name = "08_one_read", .idea = "the row stays in registers and shared memory"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    if (stays_on_chip(s.columns))
      launch_one_read(data[kX], data[kScales], data[kQRows], s.rows, s.columns);
    else
      OneKernel::run(data);
  }
  static Traffic traffic(const Shape& s) {
    if (!stays_on_chip(s.dims[1])) return OneKernel::traffic(s);
    const int width = s.dims[1] % 4 == 0 ? 4 : 1;
    return {row_sector_bytes(s, 4, width), scale_bytes(s) + row_sector_bytes(s, 1, width)};
  }
  static bool suits(const Shape& s) { return rows_fit_blocks(s); }
};

}  // namespace DEVICE::quantize_int8
