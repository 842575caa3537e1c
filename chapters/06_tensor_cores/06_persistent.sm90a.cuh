/// \file
/// Stage 6: a persistent kernel. There is one block per multiprocessor, and it computes one tile after the
/// other. The producer runs ahead: while the consumers store one tile, it fills the pipeline for the next.
#pragma once
#include "04_producer.sm90a.cuh"

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
/// product = x * w^T as in stage 3. The grid has at most one block per multiprocessor; each block has two
/// warpgroups and a warp, with kSharedBytes<Pipeline128x256>.
__global__ void __launch_bounds__(kBlockThreads<2>)
    product_persistent(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = Pipeline128x256;
  auto& pipeline = in_shared_memory<P>();
  const int steps = ceil_div(k, P::BK), group = warpgroup_index();
  const int tiles = tile_count(m, n, P::BM, P::BN);
  if (threadIdx.x == 0) pipeline.init_barriers(2 * 4);
  __syncthreads();
  // [roles]
  PipelineState<P::kStages> state;
  if (group == 2) {
    for (int i = blockIdx.x; i < tiles && threadIdx.x % 32 == 0; i += gridDim.x)
      produce(pipeline, state, in, tile_at(i, m, n, P::BM, P::BN), steps);
    return;
  }
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    const Tile tile = tile_at(i, m, n, P::BM, P::BN);
    float acc[1][128] = {};
    consume(pipeline, state, acc, group * 64, steps, Release{});
    store_accumulators(acc, product, tile.row + group * 64, tile.column, m, n);
  }
  // [roles]
#endif
}

// --- On the host ---

/// A block for each multiprocessor, or for each tile where there are fewer.
template <class P>
int persistent_blocks(int m, int n) {
  return min(multiprocessors(), tile_count<P>(m, n));
}
#endif

struct Persistent {
  static constexpr Stage row =
      kProductOnHopper.with({.name = "06_persistent", .idea = "persistent: one block per multiprocessor"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    using P = Pipeline128x256;
    const Factors a = factors(data);
    launch_shared(product_persistent, persistent_blocks<P>(a.m, a.n), kBlockThreads<2>, kSharedBytes<P>,
                  inputs_of<P>(a.x, a.w, a.m, a.k, a.n), data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) {
    return tiled_bfloat16(s, Pipeline128x256::BM, Pipeline128x256::BN);
  }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

}  // namespace DEVICE::tensor_cores
