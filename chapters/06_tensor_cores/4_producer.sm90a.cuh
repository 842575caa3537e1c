/// \file
/// Stage 4: a warp of its own, the producer, fills the pipeline; the warpgroup, the consumer, only
/// multiplies. They synchronise at two barriers per pipeline stage, "full" and "empty", and no longer at
/// __syncthreads().
#pragma once
#include "pipeline.sm90a.cuh"
#include "problem.cuh"

namespace DEVICE::tensor_cores {

/// product = x * w^T as in stage 3. One block per tile of P::BM x P::BN: `Consumers` warpgroups,
/// which divide the rows among themselves, and one producer warp, with kSharedBytes<P>.
template <int Consumers, class P>
__global__ void __launch_bounds__(kBlockThreads<Consumers>)
    product_with_producer(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kRowsEach = P::BM / Consumers;
  P& pipeline = in_shared_memory<P>();
  const Tile tile = tile_at(blockIdx.x, m, n, P::BM, P::BN);
  const int steps = ceil_div(k, P::BK), group = warpgroup_index();
  if (threadIdx.x == 0) pipeline.init_barriers(Consumers * 4);
  __syncthreads();
  PipelineState<P::kStages> state;
  if (group == Consumers) {
    if (threadIdx.x % 32 == 0) produce(pipeline, state, in, tile, steps);
  } else {
    float acc[kRowsEach / 64][P::BN / 2] = {};
    consume(pipeline, state, acc, group * kRowsEach, steps, Release{});
    store_accumulators(acc, product, tile.row + group * kRowsEach, tile.column, m, n);
  }
#endif
}

// --- On the host ---

template <int Consumers, class P>
struct WithProducer {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_shared(product_with_producer<Consumers, P>, tile_count<P>(a.m, a.n), kBlockThreads<Consumers>,
                  kSharedBytes<P>, inputs_of<P>(a.x, a.w, a.m, a.k, a.n), a.product, a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, P::BM, P::BN); }
  static bool suits(const Shape& s) { return of_eights(s); }
};

struct Producer : WithProducer<1, Pipeline128x128> {};

}  // namespace DEVICE::tensor_cores
