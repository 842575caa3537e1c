/// \file
/// Stage 9 with tiles of 128 x 192, and w shared by clusters as in stage 7. The larger tile needs fewer bytes
/// for each multiplication: a wgmma of 64 x 192 x 16 takes 8 KiB of operands from shared memory, and that of
/// stage 9, of 64 x 128 x 16, takes 6 KiB, which is an eighth more for each multiplication. A step also
/// copies fewer rows of x. Its accumulators are 192 registers per thread, more than an even share of the
/// multiprocessor's 65536 for 384 threads: the producer's warpgroup gives most of its registers to the
/// consumers.
#pragma once
#include "08_tma_epilogue.sm90a.cuh"

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
using WidePipeline = Pipeline<128, 192, 5>;

struct WideStorage {
  WidePipeline pipeline;
  alignas(kTileAlignment) StagingBuffer staging[8];
  Barrier may_multiply[2];
};

// [registers]
/// Two consumer warpgroups and a whole one for the producer, since registers are given up by warpgroups:
/// 2 x 128 x 240 + 128 x 24 of them are 64512.
constexpr int kWideThreads = 3 * 128, kConsumerRegisters = 240, kProducerRegisters = 24;
// [registers]

__host__ __device__ inline int wide_pairs(int m, int n) {
  return tile_count(m, n, 2 * WidePipeline::BM, WidePipeline::BN);
}

/// y = gelu(x * w^T + bias) in bfloat16, with a bias in float32 or bfloat16, in blocks of kWideThreads;
/// inputs and clusters as in stage 7, and kSharedBytes<WideStorage>.
template <class Gelu, class T>
__global__ void __launch_bounds__(kWideThreads, 1) __cluster_dims__(2)
    linear_wide(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y, const T* bias,
                int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = WidePipeline;
  auto& [pipeline, staging, may_multiply] = in_shared_memory<WideStorage>();
  const int steps = ceil_div(k, P::BK), group = warpgroup_index(), rank = blockIdx.x % 2;
  const int pairs = wide_pairs(m, n), number = blockIdx.x / 2, clusters = gridDim.x / 2;
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&in.x, &in.w, &y}) prefetch_tensor_map(map);
    init_barrier(&may_multiply[0], 4);
    init_barrier(&may_multiply[1], 4);
    pipeline.init_barriers(2 * 4);
  }
  cluster.sync();
  if (group == 2) {
    give_up_registers<kProducerRegisters>();
    PipelineState<P::kStages> state;
    for (int i = number; i < pairs && threadIdx.x % 128 == 0; i += clusters)
      produce_multicast(pipeline, state, in, tile_at(i, m, n, 2 * P::BM, P::BN), rank, 0, steps);
  } else {
    take_registers<kConsumerRegisters>();
    // The turns of the two groups are those of stage 9.
    int local_tile = group;
    for (int i = number + group * clusters; i < pairs; i += 2 * clusters, local_tile += 2) {
      const Tile pair = tile_at(i, m, n, 2 * P::BM, P::BN);
      const unsigned before = static_cast<unsigned>(local_tile) * steps;
      PipelineState<P::kStages> state = {static_cast<int>(before % P::kStages),
                                         static_cast<int>(before / P::kStages % 2)};
      float acc[2][P::BN / 2];
      start_with_bias(acc, bias, pair.column, n);
      wait(&may_multiply[group], (local_tile / 2 + 1 - group) % 2);
      Barrier* last_empty = nullptr;
      for (int step = 0; step < steps; ++step, state.advance()) {
        wait(&pipeline.full[state.stage], state.parity);
        multiply_tiles(acc, pipeline.x[state.stage], pipeline.w[state.stage]);
        wgmma_wait<1>();
        if (step > 0) ReleaseInBoth{}(last_empty);
        last_empty = &pipeline.empty[state.stage];
      }
      Release{}(&may_multiply[1 - group]);
      wgmma_wait<0>();
      wgmma_has_written(acc);
      ReleaseInBoth{}(last_empty);
      store_by_tma(acc, Gelu{}, staging[threadIdx.x / 32], &y, pair.row + rank * P::BM, pair.column);
    }
  }
  tma_store_wait_read();  // the staging buffers must stay until the TMA has read them
  cluster.sync();
#endif
}

// --- On the host ---

template <class Gelu, class T>
void launch_wide(const Factors& a, const T* bias, const __nv_bfloat16* y) {
  launch_shared(linear_wide<Gelu, T>, blocks_for_pairs(wide_pairs(a.m, a.n)), kWideThreads,
                kSharedBytes<WideStorage>, inputs_for_clusters<WidePipeline>(a.x, a.w, a.m, a.k, a.n),
                output_map(y, a.m, a.n), bias, a.m, a.k, a.n);
}
#endif

struct Wide {
  static constexpr Stage row = kOnHopper.with(
      {.name = "09_wide", .idea = "tiles of 128 x 192: registers move to the consumers, clusters share w"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_wide<FastGelu>(factors(data), data[kBias], data[kY]); }
  /// Each of the four warps that share 128 rows loads each sector of the bias twice.
  static Traffic traffic(const Shape& s) {
    return tiled_bfloat16(s, 2 * WidePipeline::BM, WidePipeline::BN) + bias_traffic(s, 128, 2 * 4);
  }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

/// The same with the tanh form of GELU.
struct WideTanh : Wide {
  static constexpr Stage row = kOnHopper.with({.name = "09_wide_tanh",
                                               .idea = "the same with the tanh form of GELU",
                                               .output = {&kYTanh},
                                               .against = "01_tanh"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_wide<FastGeluTanh>(factors(data), data[kBias], data[kYTanh]); }
#endif
};

}  // namespace DEVICE::tensor_cores
