/// \file
/// Stage 14: attention by Hopper's own means. One thread has the TMA copy keys and values into a ring of
/// tiles, and warpgroups multiply by wgmma, which reads both its operands from shared memory, or the first
/// from registers: there the weights are already (J. Shah and others, FlashAttention-3, 2024, arXiv
/// 2407.08608).
#pragma once
#include "problem.cuh"
#ifdef WORKBOOK_GPU
#include "wgmma_tiles.sm90a.cuh"
#endif

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [in turn]
/// Scores, softmax and the product with v, one after the other.
struct InTurn {
  template <class T, class Mask>
  static __device__ void attend(T& shared, PipelineState<T::kStages>& state,
                                const Visibility<Mask>& visibility, WgmmaSoftmax& softmax, WgmmaOutputs<T>& o,
                                int consumer, int steps) {
    for (int step = 0; step < steps; ++step, state.advance()) {
      WgmmaScores<T> scores;
      WgmmaWeights<T> weights;
      wait(&shared.k_full[state.stage], state.parity);
      start_scores(scores, shared, consumer, state.stage);
      wgmma_wait<0>();
      wgmma_has_written(scores);
      release(&shared.k_empty[state.stage]);
      visibility.hide(scores, step * T::kKeys);
      softmax.next_base(scores);
      softmax.rescale(o);
      softmax.to_weights(scores);
      round_weights(weights, scores);
      wait(&shared.v_full[state.stage], state.parity);
      start_values(o, weights, shared, state.stage);
      wgmma_wait<0>();
      wgmma_has_written(o);
      release(&shared.v_empty[state.stage]);
    }
    release(&shared.q_empty[consumer]);
  }
};
// [in turn]

// [wgmma attention]
/// o[h][i] as in stage 10, with the same roundings, where d is at most T::D and a multiple of 8; `maps` are
/// made for T. One block of T::kThreads threads per head and T::kQueries queries, with kSharedBytes<T>.
/// Traffic: each block reads its queries once and its keys and values once, and writes 2 d bytes per query.
template <class T, class Mask, class Loop>
__global__ void __launch_bounds__(T::kThreads, 1)
    flash_by_wgmma(const __grid_constant__ HeadMaps maps, Sizes s, float scale) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  T& shared = in_shared_memory<T>();
  const HalfPlace at = wgmma_place_of<T, Mask>(s, blockIdx.x);
  const int consumer = warpgroup_index() - 1;
  if (threadIdx.x == 0) shared.init_barriers();
  __syncthreads();
  PipelineState<T::kStages> state;
  if (consumer < 0) {
    give_up_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce(shared, state, maps, at, s.key_head(at.head), 0, blockIdx.x);
  } else {
    take_registers<T::kConsumerRegisters>();
    const int first = at.first + 64 * consumer, steps = steps_of<T>(at);
    const int mine = own_steps<T, Mask>(s, first, steps);
    const Visibility<Mask> visibility(s, first);
    WgmmaSoftmax softmax(scale);
    WgmmaOutputs<T> o = {};
    wait(&shared.q_full[consumer], 0);
    Loop::attend(shared, state, visibility, softmax, o, consumer, mine);
    skip(shared, state, mine, steps);
    store_outputs(shared, maps, o, softmax, consumer, at.head, first);
    tma_store_wait_read();  // the tile must stay until the TMA has read it
  }
#endif
}
// [wgmma attention]

// --- On the host ---

/// Two consumers, for d of at most 64 and of at most 128.
using TwoNarrowGroups = WgmmaTiles<64, 2, 128, 2>;
using TwoWideGroups = WgmmaTiles<128, 2, 128, 2>;

/// `o` by tiles of T.
template <class T, class Mask, class Loop>
void launch_wgmma(const Operands<BFloat16>& a, __nv_bfloat16* o) {
  launch_shared(flash_by_wgmma<T, Mask, Loop>, wgmma_blocks<T>(a.sizes), T::kThreads, kSharedBytes<T>,
                head_maps<T>(a, o), a.sizes, a.scale);
}

/// A stage that computes tiles of Narrow, for d of at most 64, or of Wide.
template <class Narrow, class Wide, class Mask, class Loop>
struct WgmmaFlash {
  static void run(const Data& data) {
    const auto a = operands<BFloat16>(data);
    __nv_bfloat16* const o = data[kHalfO<Mask>];
    if (a.sizes.d <= Narrow::D)
      launch_wgmma<Narrow, Mask, Loop>(a, o);
    else
      launch_wgmma<Wide, Mask, Loop>(a, o);
  }
  static Traffic traffic(const Shape& s) {
    return s.dims[4] <= Narrow::D ? wgmma_traffic<Narrow, Mask>(s) : wgmma_traffic<Wide, Mask>(s);
  }
  static bool suits(const Shape& s) { return rows_are_chunks(s); }
};
#endif

struct Wgmma {
  static constexpr Stage row =
      kOnHopper<Full>.with({.name = "14_wgmma", .idea = "wgmma and TMA: scores, softmax, values in turn"});
#ifdef WORKBOOK_GPU
  using Runs = WgmmaFlash<TwoNarrowGroups, TwoWideGroups, Full, InTurn>;
#endif
};

}  // namespace DEVICE::attention
