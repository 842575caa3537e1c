/// \file
/// Stage 8: stage 7 with bias and GELU in its epilogue. The accumulators start with the bias, so no addition
/// is left for the end, and GELU uses instructions of the special function unit. Each warp stages 16 x 64
/// results in shared memory, and the TMA stores them: whole cache lines, and no thread computes an address.
#pragma once
#include "07_multicast.sm90a.cuh"
#include "halves.hpp"
#ifdef WORKBOOK_GPU
#include "fast_gelu.gpu.cuh"
#endif

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
// [staging]
/// Sets the accumulators of a tile that starts at `column` to the bias of their columns. n is even.
template <int Rows64, int Accumulators, class T>
__device__ void start_with_bias(float (&acc)[Rows64][Accumulators], const T* bias, int column, int n) {
#pragma unroll
  for (int j = 0; j < Accumulators; j += 4) {
    const int mine = column + 2 * j + threadIdx.x % 4 * 2;
    const float even = mine < n ? to_float(bias[mine]) : 0.0f;
    const float odd = mine < n ? to_float(bias[mine + 1]) : 0.0f;
#pragma unroll
    for (int r = 0; r < Rows64; ++r) {
      acc[r][j] = acc[r][j + 2] = even;
      acc[r][j + 1] = acc[r][j + 3] = odd;
    }
  }
}

/// The part of a tile that a warp stages at a time.
constexpr int kStagedRows = 16, kStagedColumns = kSwizzledColumns;
using StagingBuffer = __nv_bfloat16[kStagedRows * kStagedColumns];

/// y = gelu(acc) for a warpgroup's tile at (row, column); each warp has a staging buffer of its own.
template <class Gelu, int Rows64, int Accumulators>
__device__ void store_by_tma(const float (&acc)[Rows64][Accumulators], Gelu gelu_of, StagingBuffer& staging,
                             const CUtensorMap* y, int row, int column) {
  const int lane = threadIdx.x % 32, in_row = threadIdx.x / 32 % 4 * kStagedRows;
  const unsigned my_row = shared_address(staging) + lane % 16 * kSwizzledRowBytes;
#pragma unroll
  for (int c = 0; c < Accumulators * 2; c += kStagedColumns)
#pragma unroll
    for (int r = 0; r < Rows64; ++r) {
      unsigned pairs[kStagedColumns / 4];
#pragma unroll
      for (int j = 0; j < kStagedColumns / 4; ++j) {
        const __nv_bfloat162 pair =
            __floats2bfloat162_rn(gelu_of(acc[r][c / 2 + 2 * j]), gelu_of(acc[r][c / 2 + 2 * j + 1]));
        pairs[j] = reinterpret_cast<const unsigned&>(pair);
      }
      if (lane == 0) tma_store_wait_read();
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kStagedColumns / 8; j += 2)
        stmatrix_x4(my_row + ((j + lane / 16) ^ lane % 8) * 16, &pairs[2 * j]);
      fence_proxy_async();
      __syncwarp();
      if (lane == 0) tma_store(y, row + r * 64 + in_row, column + c, staging);
    }
}
// [staging]

/// The shared memory of a block with two consumers: a pipeline, and a staging buffer for each of their warps.
template <class P>
struct SharedStorage {
  P pipeline;
  alignas(kTileAlignment) StagingBuffer staging[8];
};

/// y = gelu(x * w^T + bias) in bfloat16; inputs, blocks and grid as in stage 7, with
/// kSharedBytes<SharedStorage<ClusterPipeline>>.
template <class Gelu>
__global__ void __launch_bounds__(kBlockThreads<2>) __cluster_dims__(2)
    linear_multicast(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y,
                     const float* bias, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = ClusterPipeline;
  auto& [pipeline, staging] = in_shared_memory<SharedStorage<P>>();
  const int steps = ceil_div(k, P::BK), group = warpgroup_index(), rank = blockIdx.x % 2;
  const int pairs = pair_count(m, n);
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) pipeline.init_barriers(2 * 2 * 4);
  cluster.sync();
  ClusterState state;
  if (group == 2) {
    produce_pairs(pipeline, state, in, m, n, rank, steps);
  } else {
    // [epilogue]
    for (int i = blockIdx.x / 2; i < pairs; i += gridDim.x / 2) {
      const Tile pair = pair_at(i, m, n);
      float acc[1][128];
      start_with_bias(acc, bias, pair.column, n);
      consume(pipeline, state, acc, group * 64, steps, ReleaseInBoth{});
      store_by_tma(acc, Gelu{}, staging[threadIdx.x / 32], &y, pair.row + rank * P::BM + group * 64,
                   pair.column);
    }
    // [epilogue]
  }
  tma_store_wait_read();  // the staging buffers must stay until the TMA has read them
  cluster.sync();
#endif
}

// --- On the host ---

/// The TMA's description of y, which it stores in tiles of a staging buffer.
inline CUtensorMap output_map(const __nv_bfloat16* y, int m, int n) {
  return tensor_map(y, m, n, kStagedRows);
}

template <class Gelu>
void launch_tma_epilogue(const Factors& a, const float* bias, const __nv_bfloat16* y) {
  launch_shared(linear_multicast<Gelu>, cluster_blocks(a.m, a.n), kBlockThreads<2>,
                kSharedBytes<SharedStorage<ClusterPipeline>>, inputs_for_clusters(a.x, a.w, a.m, a.k, a.n),
                output_map(y, a.m, a.n), bias, a.m, a.k, a.n);
}
#endif

struct TmaEpilogue {
  static constexpr Stage row =
      kOnHopper.with({.name = "08_tma_epilogue", .idea = "bias and GELU in the epilogue, stored by the TMA"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_tma_epilogue<FastGelu>(factors(data), data[kBias], data[kY]); }
  /// Each of the four warps that share 64 rows loads each sector of the bias twice.
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, 256, 256) + bias_traffic(s, 64, 2 * 4); }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

/// The same with the tanh form of GELU.
struct TmaEpilogueTanh : TmaEpilogue {
  static constexpr Stage row = kOnHopper.with({.name = "08_tanh",
                                               .idea = "the same with the tanh form of GELU",
                                               .output = {&kYTanh},
                                               .against = "01_tanh"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    launch_tma_epilogue<FastGeluTanh>(factors(data), data[kBias], data[kYTanh]);
  }
#endif
};

}  // namespace DEVICE::tensor_cores
