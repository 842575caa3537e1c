/// \file
/// For stages 3 to 10: a pipeline of tiles in shared memory, the producer that fills it, and the
/// consumers that multiply.
#pragma once
#include "hopper.sm90a.cuh"
#include "tile_scheduler.cuh"

namespace DEVICE::tensor_cores {

// [pipeline]
/// In shared memory: `Stages` pairs of tiles, Rows x BK of x and Columns x BK of w. One pair is multiplied
/// while others are in flight.
template <int Rows, int Columns, int Stages>
struct Pipeline {
  static constexpr int BM = Rows, BN = Columns, BK = kSwizzledColumns, kStages = Stages;
  static constexpr int kStageBytes = (Rows + Columns) * kSwizzledRowBytes;
  alignas(kTileAlignment) __nv_bfloat16 x[Stages][Rows * BK];
  alignas(kTileAlignment) __nv_bfloat16 w[Stages][Columns * BK];
  Barrier full[Stages];   // a phase is complete when both tiles have been written
  Barrier empty[Stages];  // and here, when all consumers have read them

  /// One thread calls it, before any other uses the pipeline. `readers` arrive at `empty` in each phase.
  __device__ void init_barriers(int readers) {
    for (int stage = 0; stage < Stages; ++stage) {
      init_barrier(&full[stage], 1);
      init_barrier(&empty[stage], readers);
    }
    fence_barrier_init();
  }
};
// [pipeline]

using Pipeline128x128 = Pipeline<128, 128, 4>;
using Pipeline128x256 = Pipeline<128, 256, 4>;

/// The matrices that the TMA copies from.
struct Inputs {
  CUtensorMap x, w;
};

/// The threads of a block with `Consumers` warpgroups and one more warp, the producer.
template <int Consumers>
constexpr int kBlockThreads = Consumers * 128 + 32;

// [multiply]
/// Starts acc += x * w^T, as one group, for tiles of BK columns: a wgmma for each 16 columns, which are 32
/// bytes or 2 in the units of a descriptor, and for each 64 rows of x.
template <int Rows64, int Accumulators>
__device__ void multiply_tiles(float (&acc)[Rows64][Accumulators], const __nv_bfloat16* x,
                               const __nv_bfloat16* w) {
  wgmma_fence();
#pragma unroll
  for (int r = 0; r < Rows64; ++r) {
    const unsigned long long of_x = matrix_descriptor(x + r * 64 * kSwizzledColumns),
                             of_w = matrix_descriptor(w);
#pragma unroll
    for (int i = 0; i < kSwizzledColumns / 16; ++i) wgmma(acc[r], of_x + 2 * i, of_w + 2 * i);
  }
  wgmma_commit();
}
// [multiply]

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
}
// [consumer]

// --- On the host ---

template <class P>
Inputs inputs_of(const __nv_bfloat16* x, const __nv_bfloat16* w, int m, int k, int n) {
  return {tensor_map(x, m, k, P::BM), tensor_map(w, n, k, P::BN)};
}

template <class P>
int tile_count(int m, int n) {
  return tile_count(m, n, P::BM, P::BN);
}

/// A block for each multiprocessor, or for each tile where there are fewer.
template <class P>
int persistent_blocks(int m, int n) {
  return min(multiprocessors(), tile_count<P>(m, n));
}

}  // namespace DEVICE::tensor_cores
