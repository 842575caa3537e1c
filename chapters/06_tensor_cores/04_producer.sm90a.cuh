/// \file
/// Stage 4: a warp of its own, the producer, fills the pipeline; the warpgroup, the consumer, only
/// multiplies. They synchronise at two barriers per pipeline stage, "full" and "empty", and no longer at
/// __syncthreads().
#pragma once
#include "03_wgmma.sm90a.cuh"

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
/// The threads of a block with `Consumers` warpgroups and one more warp, the producer.
template <int Consumers>
constexpr int kBlockThreads = Consumers * 128 + 32;

// [producer]
/// The producer's loop for one tile of the result, run by one thread: it fills a stage as soon as that is
/// empty.
template <class P>
__device__ void produce(P& pipeline, PipelineState<P::kStages>& state, const Inputs& in, Tile tile,
                        int steps) {
  for (int step = 0; step < steps; ++step, state.advance()) {
    Barrier* full = &pipeline.full[state.stage];
    wait(&pipeline.empty[state.stage], state.parity ^ 1);
    arrive_expect_tx(full, P::kStageBytes);
    tma_load(pipeline.x[state.stage], &in.x, tile.row, step * P::BK, full);
    tma_load(pipeline.w[state.stage], &in.w, tile.column, step * P::BK, full);
  }
}
// [producer]

// [consumer]
/// One lane of each warp arrives at `empty`: the warp has read the stage.
struct Release {
  __device__ void operator()(Barrier* empty) const {
    if (threadIdx.x % 32 == 0) arrive(empty);
  }
};

/// A consumer's mainloop for one tile of the result, run by a warpgroup: acc += x * w^T for the rows of x
/// from `first_row` of each stage, and release(empty) when a stage has been read.
template <class P, int Rows64, int Accumulators, class Releasing>
__device__ void consume(P& pipeline, PipelineState<P::kStages>& state, float (&acc)[Rows64][Accumulators],
                        int first_row, int steps, Releasing release) {
  for (int step = 0; step < steps; ++step, state.advance()) {
    wait(&pipeline.full[state.stage], state.parity);
    multiply_tiles(acc, pipeline.x[state.stage] + first_row * P::BK, pipeline.w[state.stage]);
    wgmma_wait<0>();
    release(&pipeline.empty[state.stage]);
  }
  wgmma_has_written(acc);
}
// [consumer]

// [kernel]
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
// [kernel]

// --- On the host ---

template <int Consumers, class P>
struct WithProducer {
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch_shared(product_with_producer<Consumers, P>, tile_count<P>(a.m, a.n), kBlockThreads<Consumers>,
                  kSharedBytes<P>, inputs_of<P>(a.x, a.w, a.m, a.k, a.n), data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, P::BM, P::BN); }
  static bool suits(const Shape& s) { return of_eights(s); }
};
#endif

struct Producer {
  static constexpr Stage row = kProductOnHopper.with(
      {.name = "04_producer", .idea = "a producer warp copies, a consumer warpgroup multiplies"});
#ifdef WORKBOOK_GPU
  using Runs = WithProducer<1, Pipeline128x128>;
#endif
};

}  // namespace DEVICE::tensor_cores
