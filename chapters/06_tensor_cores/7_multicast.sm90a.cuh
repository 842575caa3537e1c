/// \file
/// Stage 7: two blocks in a cluster have tiles one below the other, so they need the same columns of w. Each
/// has the TMA copy half of them to both, which saves a third of the bytes read from the L2 cache.
#pragma once
#include "multicast.sm90a.cuh"
#include "problem.cuh"

namespace DEVICE::tensor_cores {

/// product = x * w^T as in stage 6, but `in.w` is made for tiles of half the columns, and
/// the number of blocks is even.
__global__ void __launch_bounds__(kBlockThreads<2>) __cluster_dims__(2)
    product_multicast(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = ClusterPipeline;
  auto& pipeline = in_shared_memory<P>();
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

struct Multicast {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_shared(product_multicast, cluster_blocks(a.m, a.n), kBlockThreads<2>,
                  kSharedBytes<ClusterPipeline>, inputs_for_clusters(a.x, a.w, a.m, a.k, a.n), a.product, a.m,
                  a.k, a.n);
  }
  /// A pair of tiles reads what one tile of 256 x 256 would.
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, 256, 256); }
  static bool suits(const Shape& s) { return of_eights(s); }
};

}  // namespace DEVICE::tensor_cores
