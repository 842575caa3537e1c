/// \file
/// Stage 8: stage 7 with bias and GELU in its epilogue. The accumulators start with the bias, so no addition
/// is left for the end, and GELU uses instructions of the special function unit. Each warp stages 16 x 64
/// results in shared memory, and the TMA stores them: whole cache lines, and no thread computes an address.
#pragma once
#include "epilogue.sm90a.cuh"
#include "multicast.sm90a.cuh"
#include "problem.cuh"

namespace DEVICE::tensor_cores {

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

template <class Gelu>
void launch_tma_epilogue(const Arrays& a, const __nv_bfloat16* y) {
  launch_shared(linear_multicast<Gelu>, cluster_blocks(a.m, a.n), kBlockThreads<2>,
                kSharedBytes<SharedStorage<ClusterPipeline>>, inputs_for_clusters(a.x, a.w, a.m, a.k, a.n),
                output_map(y, a.m, a.n), a.bias, a.m, a.k, a.n);
}

struct TmaEpilogue {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_tma_epilogue<FastGelu>(a, a.y);
  }
  /// Each of the four warps that share 64 rows loads each sector of the bias twice.
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, 256, 256) + bias_traffic(s, 64, 2 * 4); }
  static bool suits(const Shape& s) { return of_eights(s); }
};

/// The same with the tanh form of GELU.
struct TmaEpilogueTanh : TmaEpilogue {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_tma_epilogue<FastGeluTanh>(a, a.y_tanh);
  }
};

}  // namespace DEVICE::tensor_cores
