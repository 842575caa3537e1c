/// \file
/// Stage 9: an epilogue during which the tensor cores keep working. In stage 8 both warpgroups compute GELU
/// at the same time, and nothing is multiplied. Here each warpgroup has a tile of its own, and they
/// alternate: one multiplies while the other one is in its epilogue.
#pragma once
#include "06_persistent.sm90a.cuh"
#include "08_tma_epilogue.sm90a.cuh"

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
using PingPongPipeline = Pipeline<128, 128, 6>;

struct PingPongStorage {
  PingPongPipeline pipeline;
  alignas(kTileAlignment) StagingBuffer staging[8];
  Barrier may_multiply[2];
};

/// y = gelu(x * w^T + bias) in bfloat16, with a bias in float32 or bfloat16; blocks and grid as in stage 6,
/// with kSharedBytes<PingPongStorage>.
template <class Gelu, class T>
__global__ void __launch_bounds__(kBlockThreads<2>)
    linear_ping_pong(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y, const T* bias,
                     int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = PingPongPipeline;
  auto& [pipeline, staging, may_multiply] = in_shared_memory<PingPongStorage>();
  const int steps = ceil_div(k, P::BK), group = warpgroup_index();
  const int tiles = tile_count(m, n, P::BM, P::BN);
  if (threadIdx.x == 0) {
    init_barrier(&may_multiply[0], 4);
    init_barrier(&may_multiply[1], 4);
    pipeline.init_barriers(4);
  }
  __syncthreads();
  if (group == 2) {
    PipelineState<P::kStages> state;
    for (int i = blockIdx.x; i < tiles && threadIdx.x % 32 == 0; i += gridDim.x)
      produce(pipeline, state, in, tile_at(i, m, n, P::BM, P::BN), steps);
    return;
  }

  // This block's tiles are numbered by `local_tile`: group 0 has the even ones, group 1 the odd ones. The
  // steps of successive tiles follow each other in the pipeline.
  int local_tile = group;
  for (int i = blockIdx.x + group * gridDim.x; i < tiles; i += 2 * gridDim.x, local_tile += 2) {
    const Tile tile = tile_at(i, m, n, P::BM, P::BN);
    const unsigned before = static_cast<unsigned>(local_tile) * steps;
    PipelineState<P::kStages> state = {static_cast<int>(before % P::kStages),
                                       static_cast<int>(before / P::kStages % 2)};
    float acc[2][64];
    start_with_bias(acc, bias, tile.column, n);
    // [turn]
    // Wait until the other group has issued all products of tile local_tile - 1.
    wait(&may_multiply[group], (local_tile / 2 + 1 - group) % 2);
    Barrier* last_empty = nullptr;
    for (int step = 0; step < steps; ++step, state.advance()) {
      wait(&pipeline.full[state.stage], state.parity);
      multiply_tiles(acc, pipeline.x[state.stage], pipeline.w[state.stage]);
      wgmma_wait<1>();  // no other group multiplies now, so the next step must be queued before this one ends
      if (step > 0) Release{}(last_empty);
      last_empty = &pipeline.empty[state.stage];
    }
    Release{}(&may_multiply[1 - group]);
    wgmma_wait<0>();
    wgmma_has_written(acc);
    Release{}(last_empty);
    store_by_tma(acc, Gelu{}, staging[threadIdx.x / 32], &y, tile.row, tile.column);
    // [turn]
  }
  tma_store_wait_read();  // the staging buffers must stay until the TMA has read them
#endif
}

// --- On the host ---

template <class Gelu, class T>
void launch_ping_pong(const Factors& a, const T* bias, const __nv_bfloat16* y) {
  using P = PingPongPipeline;
  launch_shared(linear_ping_pong<Gelu, T>, persistent_blocks<P>(a.m, a.n), kBlockThreads<2>,
                kSharedBytes<PingPongStorage>, inputs_of<P>(a.x, a.w, a.m, a.k, a.n), output_map(y, a.m, a.n),
                bias, a.m, a.k, a.n);
}
#endif

struct PingPong {
  static constexpr Stage row =
      kOnHopper.with({.name = "09_ping_pong", .idea = "one warpgroup multiplies, the other computes GELU"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_ping_pong<FastGelu>(factors(data), data[kBias], data[kY]); }
  /// Each of the four warps that share 128 rows loads each sector of the bias twice.
  static Traffic traffic(const Shape& s) {
    return tiled_bfloat16(s, PingPongPipeline::BM, PingPongPipeline::BN) + bias_traffic(s, 128, 2 * 4);
  }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

/// The same with the tanh form of GELU.
struct PingPongTanh : PingPong {
  static constexpr Stage row = kOnHopper.with({.name = "09_tanh",
                                               .idea = "the same with the tanh form of GELU",
                                               .output = {&kYTanh},
                                               .against = "01_tanh"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    launch_ping_pong<FastGeluTanh>(factors(data), data[kBias], data[kYTanh]);
  }
#endif
};

}  // namespace DEVICE::tensor_cores
