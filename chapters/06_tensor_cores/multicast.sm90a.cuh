/// \file
/// For stages 7, 8, 9_wide and 10: clusters of two blocks, whose tiles are one below the other. Each block
/// has the TMA copy half of the columns of w to both.
#pragma once
#include <cooperative_groups.h>

#include "pipeline.sm90a.cuh"

// nvcc rejects cluster dimensions for older architectures, for which the kernels here are empty.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#undef __cluster_dims__
#define __cluster_dims__(...)
#endif

namespace DEVICE::tensor_cores {

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

// --- On the host ---

/// The tiles of w are half as wide as the pipeline's: each block copies one half.
template <class P = ClusterPipeline>
Inputs inputs_for_clusters(const __nv_bfloat16* x, const __nv_bfloat16* w, int m, int k, int n) {
  return {tensor_map(x, m, k, P::BM), tensor_map(w, n, k, P::BN / 2)};
}

/// A cluster for every two multiprocessors, or for each pair of tiles where there are fewer.
inline int blocks_for_pairs(int pairs) { return 2 * min(multiprocessors() / 2, pairs); }
inline int cluster_blocks(int m, int n) { return blocks_for_pairs(pair_count(m, n)); }

}  // namespace DEVICE::tensor_cores
