/// \file
/// Stage 3: Hopper's own tensor instruction, wgmma. Four warps multiply 64 x 128 x 16 elements that are in
/// shared memory; only the accumulators are in registers. One thread has the TMA copy whole tiles into a
/// pipeline, swizzled, so that no thread computes the address of an element.
#pragma once
#include "problem.cuh"
#include "tile_scheduler.cuh"
#ifdef WORKBOOK_GPU
#include "hopper.sm90a.cuh"
#endif

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
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

/// product = x * w^T in bfloat16, matrices as in stage 2, k and n multiples of 8; `in` is made for P, which
/// has 128 rows and columns. A block of one warpgroup per tile, with kSharedBytes<P>. Reads half the bytes of
/// float32 from the L2 cache: 2mnk(1/BM + 1/BN). A template, so that only a file that launches it compiles
/// it.
template <class P>
__global__ void __launch_bounds__(128)
    product_by_wgmma(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  P& pipeline = in_shared_memory<P>();
  const Tile tile = tile_at(blockIdx.x, m, n, P::BM, P::BN);
  const int steps = ceil_div(k, P::BK);
  if (threadIdx.x == 0) pipeline.init_barriers(1);
  __syncthreads();
  // [loop]
  const auto fetch = [&](int step) {
    if (threadIdx.x != 0 || step >= steps) return;
    const int stage = step % P::kStages;
    arrive_expect_tx(&pipeline.full[stage], P::kStageBytes);
    tma_load(pipeline.x[stage], &in.x, tile.row, step * P::BK, &pipeline.full[stage]);
    tma_load(pipeline.w[stage], &in.w, tile.column, step * P::BK, &pipeline.full[stage]);
  };

  for (int step = 0; step < P::kStages; ++step) fetch(step);
  float acc[2][64] = {};
  PipelineState<P::kStages> state;
  for (int step = 0; step < steps; ++step, state.advance()) {
    wait(&pipeline.full[state.stage], state.parity);
    multiply_tiles(acc, pipeline.x[state.stage], pipeline.w[state.stage]);
    wgmma_wait<0>();
    __syncthreads();  // all four warps have read the stage
    fetch(step + P::kStages);
  }
  wgmma_has_written(acc);
  // [loop]
  store_accumulators(acc, product, tile.row, tile.column, m, n);
#endif
}

// --- On the host ---

template <class P>
Inputs inputs_of(const __nv_bfloat16* x, const __nv_bfloat16* w, int m, int k, int n) {
  return {tensor_map(x, m, k, P::BM), tensor_map(w, n, k, P::BN)};
}

template <class P>
int tile_count(int m, int n) {
  return tile_count(m, n, P::BM, P::BN);
}
#endif

struct Wgmma {
  static constexpr Stage row =
      kProductOnHopper.with({.name = "03_wgmma", .idea = "wgmma on tiles that the TMA copies"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    using P = Pipeline128x128;
    const Factors a = factors(data);
    launch_shared(product_by_wgmma<P>, tile_count<P>(a.m, a.n), 128, kSharedBytes<P>,
                  inputs_of<P>(a.x, a.w, a.m, a.k, a.n), data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) {
    return tiled_bfloat16(s, Pipeline128x128::BM, Pipeline128x128::BN);
  }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

}  // namespace DEVICE::tensor_cores
