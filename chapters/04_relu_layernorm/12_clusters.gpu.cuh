/// \file
/// Stage 12 with thread-block clusters: a row is divided among the blocks of a cluster, so one kernel and one
/// read are enough for rows of up to 131,072 columns. Clusters are persistent. The next slices of their rows
/// are copied into a ring in shared memory while one is reduced, and weight and bias stay in registers. Warps
/// tell each other their moments by asynchronous stores to the shared memory of all blocks, which an mbarrier
/// counts: one wait per row, and none for a whole block. Compute capability 9.0. Source of the idea of the
/// exchange: QuACK, https://github.com/Dao-AILab/quack.
#pragma once
#include "rows.cuh"
#include "sums.hpp"
#ifdef WORKBOOK_GPU
#include <cooperative_groups.h>

#include "hopper.sm90a.cuh"
#endif

namespace DEVICE::relu_layernorm {

#ifdef WORKBOOK_GPU
// [ring]
/// A block's part of a row: `kHeld` vectors for each of 512 threads.
constexpr int kSliceThreads = 512, kSliceWarps = kSliceThreads / 32;
constexpr int kSliceVectors = kHeld<float4> * kSliceThreads, kSlice = 4 * kSliceVectors;
constexpr int kMostBlocks = 16;  // of a cluster; more than 8 is not supported by every GPU with clusters

/// The mean of a warp's elements, and the sum of the squares of their distances from it.
struct Report {
  float mean, squares;
};

/// The shared memory of a block. Two sets of reports suffice: a warp sends those of row i + 2 when it has
/// those of row i + 1, which every warp sends after it has read those of row i.
struct ClusterShared {
  static constexpr int kStages = 3;
  float4 slices[kStages][kSliceVectors];
  Report reports[2][kMostBlocks * kSliceWarps];
  Barrier full[kStages];  // the slice has arrived
  Barrier reported[2];    // all warps of the cluster have reported
};
// [ring]

/// Starts the copy of `bytes` bytes, a multiple of 16, to shared memory; `barrier` counts them.
__device__ inline void copy_bulk(void* to, const void* from, int bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// How a row of `columns` elements is divided: block b has the `slice` of them from b * slice on, or what is
/// left, in vectors of Width elements; its thread t has the vectors t, t + kSliceThreads and so on.
template <int Width>
struct Division {
  static constexpr int kVectors = kSlice / Width / kSliceThreads;  // of a thread
  int columns, slice;

  __device__ int elements(int block) const { return max(min(slice, columns - block * slice), 0); }
  /// Elements that a warp has.
  __device__ float elements(int block, int warp) const {
    int vectors = 0;
    for (int j = 0; j < kVectors; ++j)
      vectors += max(min(elements(block) / Width - (j * kSliceThreads + warp * 32), 32), 0);
    return static_cast<float>(vectors * Width);
  }
};

/// Mean and 1 / deviation of a row.
struct RowMoments {
  float mean, inverse;
};

// [combine]
/// From the reports of all warps that share the row (T. Chan, G. Golub, R. LeVeque, 1979): every warp reads
/// all of them. A lane has report lane + 32 i, of counts[i] elements.
template <int Count>
__device__ RowMoments combined(const Report* reports, const float (&counts)[Count], int columns,
                               float epsilon) {
  Report mine[Count];
  float sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    mine[i] = reports[threadIdx.x % 32 + 32 * i];
    sum += counts[i] * mine[i].mean;
  }
  const float mean = warp_sum(sum) / static_cast<float>(columns);
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const float distance = mine[i].mean - mean;
    squares += mine[i].squares + counts[i] * distance * distance;
  }
  return {mean, rsqrtf(warp_sum(squares) / static_cast<float>(columns) + epsilon)};
}
// [combine]

/// y = the normalised row of relu(x). Cluster c takes row c and every clusters-th after it; block `rank` has
/// the columns from rank * slice on, or what is left of them; slice <= kSlice. With `Bulk`, arrays and rows
/// begin at multiples of 16 bytes; without, a thread loads its elements one by one, when it needs them.
/// Dynamic shared memory: a ClusterShared. Traffic: reads 4 bytes and writes 4 bytes per element, and reads
/// weight and bias once per cluster.
template <bool Bulk, int Blocks>
__global__ void __launch_bounds__(kSliceThreads)
    cluster_rows(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int rows, int columns, int slice,
                 float epsilon) {
#if __CUDA_ARCH__ >= 900
  using Vector = std::conditional_t<Bulk, float4, float>;
  constexpr int kStages = ClusterShared::kStages, kVectors = Division<kWidth<Vector>>::kVectors;
  auto& shared = *dynamic_shared<ClusterShared>();
  const auto cluster = cooperative_groups::this_cluster();
  const Division<kWidth<Vector>> division = {columns, slice};
  const int rank = cluster.block_rank(), t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int begin = rank * slice, mine = division.elements(rank), vectors = mine / kWidth<Vector>;
  const int number = blockIdx.x / Blocks, clusters = gridDim.x / Blocks;
  const auto at = [&](int row) { return static_cast<size_t>(row) * columns + begin; };

  const auto copy_row = [&](int row, int stage) {
    if (!Bulk || row >= rows) return;
    arrive_expect_tx(&shared.full[stage], mine * sizeof(float));
    if (mine > 0) copy_bulk(shared.slices[stage], x + at(row), mine * sizeof(float), &shared.full[stage]);
  };
  const auto expect_reports = [&](int set) {
    arrive_expect_tx(&shared.reported[set], Blocks * kSliceWarps * sizeof(Report));
  };
  if (t == 0) {
    for (Barrier& barrier : shared.full) init_barrier(&barrier, 1);
    for (Barrier& barrier : shared.reported) init_barrier(&barrier, 1);
    fence_barrier_init();
    expect_reports(0);
    expect_reports(1);
    for (int stage = 0; stage < kStages; ++stage) copy_row(number + stage * clusters, stage);
  }
  cluster.sync();

  Vector weights[kVectors], biases[kVectors];
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    const int i = t + j * kSliceThreads;
    weights[j] = i < vectors ? reinterpret_cast<const Vector*>(weight + begin)[i] : Vector{};
    biases[j] = i < vectors ? reinterpret_cast<const Vector*>(bias + begin)[i] : Vector{};
  }
  float counts[Blocks * kSliceWarps / 32];
#pragma unroll
  for (int i = 0; i < Blocks * kSliceWarps / 32; ++i)
    counts[i] = division.elements((lane + 32 * i) / kSliceWarps, (lane + 32 * i) % kSliceWarps);
  const float share = 1 / fmaxf(division.elements(rank, warp), 1.0f);

  // [rows]
  int turn = 0;
  for (int row = number; row < rows; row += clusters, ++turn) {
    const int stage = turn % kStages, set = turn % 2;
    if (Bulk) wait(&shared.full[stage], turn / kStages % 2);
    const Vector* from = Bulk ? reinterpret_cast<const Vector*>(shared.slices[stage])
                              : reinterpret_cast<const Vector*>(x + at(row));
    Vector held[kVectors];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int i = t + j * kSliceThreads;
      held[j] = i < vectors ? relu(from[i]) : Vector{};
      sum += sum_of(held[j]);
    }
    const float warp_mean = warp_sum(sum) * share;
#pragma unroll
    for (int j = 0; j < kVectors; ++j)
      squares += t + j * kSliceThreads < vectors ? sum_of<Square>(subtract(held[j], warp_mean)) : 0.0f;
    const Report report = {warp_mean, warp_sum(squares)};
    if (lane < Blocks)
      send_pair(report.mean, report.squares, &shared.reports[set][rank * kSliceWarps + warp],
                &shared.reported[set], lane);

    wait_in_cluster(&shared.reported[set], turn / 2 % 2);
    if (t == 0) {  // all warps have reported, so all have read their part of the slice
      expect_reports(set);
      copy_row(row + kStages * clusters, stage);
    }
    const RowMoments moments = combined(shared.reports[set], counts, columns, epsilon);
    Vector* out = reinterpret_cast<Vector*>(y + at(row));
#pragma unroll
    for (int j = 0; j < kVectors; ++j) {
      const int i = t + j * kSliceThreads;
      if (i < vectors)
        __stcs(&out[i], affine(subtract(held[j], moments.mean), moments.inverse, weights[j], biases[j]));
    }
  }
  // [rows]
  cluster.sync();  // no block exits while another may still send to it
#endif
}

// --- On the host ---

/// Blocks that a row takes.
inline int cluster_blocks(int columns) {
  int count = 2;
  while (count * kSlice < columns) count *= 2;
  return count;
}

template <bool Bulk>
auto cluster_kernel(int blocks) {
  return blocks == 2   ? cluster_rows<Bulk, 2>
         : blocks == 4 ? cluster_rows<Bulk, 4>
         : blocks == 8 ? cluster_rows<Bulk, 8>
                       : cluster_rows<Bulk, 16>;
}
#endif

struct Clusters {
  static constexpr Stage row =
      kNormalises.with({.name = "12_clusters",
                        .idea = "long rows: one cluster of blocks per row, one kernel and one read",
                        .needs = "a GPU of compute capability 9.0, and long rows",
                        .capability = 90});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    const int blocks = cluster_blocks(s.columns), slice = ceil_div(s.columns, 4 * blocks) * 4;
    const auto kernel =
        aligned_rows(data, data[kY]) ? cluster_kernel<true>(blocks) : cluster_kernel<false>(blocks);
    launch_clusters(kernel, blocks, s.rows, kSliceThreads, sizeof(ClusterShared), data[kX], data[kWeight],
                    data[kBias], data[kY], s.rows, s.columns, slice, kEpsilon);
  }
  /// Weight and bias are read by each cluster; how many of them there are depends on the GPU.
  static Traffic traffic(const Shape& s) {
    return with_parameters(s, once(s, width(s)), once(s, width(s)), 1);
  }
  static bool suits(const Shape& s) { return !fits_registers(s) && s.dims[1] <= kMostBlocks * kSlice; }
#endif
};

}  // namespace DEVICE::relu_layernorm
