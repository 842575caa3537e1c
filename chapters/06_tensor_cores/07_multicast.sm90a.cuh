/// \file
/// Stage 7: two blocks in a cluster have tiles one below the other, so they need the same columns of w. Each
/// has the TMA copy half of them to both, which saves a third of the bytes read from the L2 cache.
#pragma once
#include "04_producer.sm90a.cuh"
#ifdef WORKBOOK_GPU
#include <cooperative_groups.h>
#endif

// nvcc rejects cluster dimensions for older architectures, for which the kernels here are empty.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#undef __cluster_dims__
#define __cluster_dims__(...)
#endif

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
/// A pair of tiles, one below the other: the one of block `rank` starts rank * ClusterPipeline::BM rows below
/// the start of the pair.
using ClusterPipeline = Pipeline128x256;
using ClusterState = PipelineState<ClusterPipeline::kStages>;

__device__ inline Tile pair_at(int index, int m, int n) {
  return tile_at(index, m, n, 2 * ClusterPipeline::BM, ClusterPipeline::BN);
}
__host__ __device__ inline int pair_count(int m, int n) {
  return tile_count(m, n, 2 * ClusterPipeline::BM, ClusterPipeline::BN);
}

// [release]
/// As Release, in both blocks: a stage is empty when the consumers of both have read it.
struct ReleaseInBoth {
  __device__ void operator()(Barrier* empty) const {
    if (threadIdx.x % 32 < 2) arrive_remote(empty, threadIdx.x % 32);
  }
};
// [release]

// [producer]
/// As produce(), for steps `first` to `last` of a pair of tiles, of which `rank` is this block's.
template <class P>
__device__ void produce_multicast(P& pipeline, PipelineState<P::kStages>& state, const Inputs& in, Tile pair,
                                  int rank, int first, int last) {
  constexpr int kHalf = P::BN / 2;
  for (int step = first; step < last; ++step, state.advance()) {
    const int stage = state.stage, column = step * P::BK;
    wait(&pipeline.empty[stage], state.parity ^ 1);
    arrive_expect_tx(&pipeline.full[stage], P::kStageBytes);
    tma_load(pipeline.x[stage], &in.x, pair.row + rank * P::BM, column, &pipeline.full[stage]);
    tma_load_multicast(0b11, pipeline.w[stage] + rank * kHalf * P::BK, &in.w, pair.column + rank * kHalf,
                       column, &pipeline.full[stage]);
  }
}
// [producer]

/// The producer warp's work for all pairs of its cluster: one thread calls produce_multicast().
__device__ inline void produce_pairs(ClusterPipeline& pipeline, ClusterState& state, const Inputs& in, int m,
                                     int n, int rank, int steps) {
  const int pairs = pair_count(m, n);
  for (int i = blockIdx.x / 2; i < pairs && threadIdx.x % 32 == 0; i += gridDim.x / 2)
    produce_multicast(pipeline, state, in, pair_at(i, m, n), rank, 0, steps);
}

/// product = x * w^T as in stage 6, but `in.w` is made for tiles of half the columns, and the number of
/// blocks is even. P is ClusterPipeline: a template, as in stage 3.
template <class P>
__global__ void __launch_bounds__(kBlockThreads<2>) __cluster_dims__(2)
    product_multicast(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  P& pipeline = in_shared_memory<P>();
  const int steps = ceil_div(k, P::BK), group = warpgroup_index(), rank = blockIdx.x % 2;
  const int pairs = pair_count(m, n);
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) pipeline.init_barriers(2 * 2 * 4);
  cluster.sync();
  ClusterState state;
  if (group == 2) {
    produce_pairs(pipeline, state, in, m, n, rank, steps);
  } else {
    for (int i = blockIdx.x / 2; i < pairs; i += gridDim.x / 2) {
      const Tile pair = pair_at(i, m, n);
      float acc[1][128] = {};
      consume(pipeline, state, acc, group * 64, steps, ReleaseInBoth{});
      store_accumulators(acc, product, pair.row + rank * P::BM + group * 64, pair.column, m, n);
    }
  }
  cluster.sync();  // no block exits while the other one may still copy to it
#endif
}

// --- On the host ---

/// The tiles of w are half as wide as the pipeline's: each block copies one half.
template <class P = ClusterPipeline>
Inputs inputs_for_clusters(const __nv_bfloat16* x, const __nv_bfloat16* w, int m, int k, int n) {
  return {tensor_map(x, m, k, P::BM), tensor_map(w, n, k, P::BN / 2)};
}

/// A cluster for every two multiprocessors, or for each pair of tiles where there are fewer.
inline int blocks_for_pairs(int pairs) { return 2 * min(multiprocessors() / 2, pairs); }
inline int cluster_blocks(int m, int n) { return blocks_for_pairs(pair_count(m, n)); }
#endif

struct Multicast {
  static constexpr Stage row =
      kProductOnHopper.with({.name = "07_multicast", .idea = "two blocks share their copies of w"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    using P = ClusterPipeline;
    const Factors a = factors(data);
    launch_shared(product_multicast<P>, cluster_blocks(a.m, a.n), kBlockThreads<2>, kSharedBytes<P>,
                  inputs_for_clusters(a.x, a.w, a.m, a.k, a.n), data[kProduct], a.m, a.k, a.n);
  }
  /// A pair of tiles reads what one tile of 256 x 256 would.
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, 256, 256); }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

}  // namespace DEVICE::tensor_cores
