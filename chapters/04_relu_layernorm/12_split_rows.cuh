/// \file
/// Stage 12: several blocks per row, for rows that are too long for one block, or too few to give every
/// multiprocessor a block. No block knows the row's mean before all of them have read their chunks, so there
/// are two kernels and two reads. The second kernel starts with what the first read last, because that is
/// still in the L2 cache.
#pragma once
#include "09_two_passes.cuh"
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// The moments of the numbers of all lanes together, in every lane of the warp.
__device__ inline Moments warp_moments(Moments mine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const Moments other = {__shfl_xor_sync(0xffffffffu, mine.count, distance),
                           __shfl_xor_sync(0xffffffffu, mine.mean, distance),
                           __shfl_xor_sync(0xffffffffu, mine.squares, distance)};
    mine = merged(mine, other);
  }
  return mine;
}

/// Block b has chunk b % chunks of row b / chunks: elements [begin, end) of the row.
struct Chunk {
  int row, begin, end;
  __device__ Chunk(int block, int chunks, int columns)
      : row(block / chunks),
        begin(block % chunks * kChunk),
        end(begin + kChunk < columns ? begin + kChunk : columns) {}
};

/// means[b] and squares[b] = the mean of block b's chunk of relu(x), and its squared distances from it.
/// `Vector` as in stage 10. Reads 4 bytes per element.
template <class Vector>
__global__ void __launch_bounds__(kChunkThreads)
    chunk_moments(const float* __restrict__ x, float* __restrict__ means, float* __restrict__ squares,
                  int chunks, int columns) {
  const Chunk chunk(blockIdx.x, chunks, columns);
  const Vector* from =
      reinterpret_cast<const Vector*>(x + static_cast<size_t>(chunk.row) * columns + chunk.begin);
  const int vectors = (chunk.end - chunk.begin) / kWidth<Vector>;
  const float count = static_cast<float>(chunk.end - chunk.begin);

  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * kChunkThreads;
    held[j] = i < vectors ? from[i] : Vector{};
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  const float mean = block_sum_by_warps(sum) / count;
  float distances = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j)
    distances += static_cast<int>(threadIdx.x) + j * kChunkThreads < vectors
                     ? sum_of<Square>(subtract(held[j], mean))
                     : 0.0f;
  distances = block_sum_by_warps(distances);
  if (threadIdx.x == 0) {
    means[blockIdx.x] = mean;
    squares[blockIdx.x] = distances;
  }
}

/// y = the normalised row of relu(x), one block per chunk, the last chunk first; means and squares are
/// those of chunk_moments(). Every warp merges the moments of its row itself. Reads 4 bytes and writes 4
/// bytes per element, and reads weight and bias once per row.
template <class Vector>
__global__ void __launch_bounds__(kChunkThreads)
    normalise_chunks(const float* __restrict__ x, const float* __restrict__ means,
                     const float* __restrict__ squares, const float* __restrict__ weight,
                     const float* __restrict__ bias, float* __restrict__ y, int chunks, int columns,
                     float epsilon) {
  const Chunk chunk(gridDim.x - 1 - blockIdx.x, chunks, columns);
  const size_t first = static_cast<size_t>(chunk.row) * columns + chunk.begin;
  const Vector* from = reinterpret_cast<const Vector*>(x + first);
  const int vectors = (chunk.end - chunk.begin) / kWidth<Vector>;
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * kChunkThreads;
    held[j] = i < vectors ? from[i] : Vector{};
  }

  // [merge]
  Moments row = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x % 32; c < chunks; c += 32) {
    const int of_row = chunk.row * chunks + c;
    const int count = columns - c * kChunk < kChunk ? columns - c * kChunk : kChunk;
    row = merged(row, {static_cast<float>(count), means[of_row], squares[of_row]});
  }
  row = warp_moments(row);
  const float inverse = rsqrtf(row.squares / row.count + epsilon);
  // [merge]

  const Vector* weights = reinterpret_cast<const Vector*>(weight + chunk.begin);
  const Vector* biases = reinterpret_cast<const Vector*>(bias + chunk.begin);
  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = threadIdx.x + j * kChunkThreads;
    if (i < vectors) out[i] = affine(subtract(relu(held[j]), row.mean), inverse, weights[i], biases[i]);
  }
}

// --- On the host ---

struct SplitRows {
  static constexpr Stage row = kNormalises.with(
      {.name = "12_split_rows", .idea = "long rows: several blocks per row, two kernels", .kernels = 2});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    const int each = chunks(data.shape), all = s.rows * each;
    const bool four = aligned_rows(data, data[kY]);
    launch(four ? chunk_moments<float4> : chunk_moments<float>, all, kChunkThreads, data[kX],
           data[kChunkMeans], data[kChunkSquares], each, s.columns);
    launch(four ? normalise_chunks<float4> : normalise_chunks<float>, all, kChunkThreads, data[kX],
           data[kChunkMeans], data[kChunkSquares], data[kWeight], data[kBias], data[kY], each, s.columns,
           kEpsilon);
  }
  /// Every warp of a chunk loads the moments of all chunks of its row.
  static Traffic traffic(const Shape& s) {
    const int warps = kChunkThreads / 32, each = chunks(s);
    const Shape row_of_moments = {{s.dims[0], each, 1}};
    const long long moments = 2 * once(row_of_moments);
    Traffic traffic =
        with_parameters(s, 2 * once(s, width(s)), 2 * 32 * all_chunks(s) + once(s, width(s)), rows(s));
    traffic.read_bytes += moments * warps * each;
    traffic.repeated_bytes += moments * (warps * each - 1);
    return traffic;
  }
};

}  // namespace DEVICE::relu_layernorm
