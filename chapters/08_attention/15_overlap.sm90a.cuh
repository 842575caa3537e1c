/// \file
/// Stage 15: a softmax runs beside the product of the weights before it and v. A consumer starts the next
/// scores and that product together and waits for the scores alone, so the tensor cores are busy during their
/// softmax (nvcc 13 moves its exponentials past the wait for the product: see docs/attention_hopper.md).
#pragma once
#include "14_wgmma.sm90a.cuh"

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [overlap]
/// While o += weights * v of one tile is computed, the scores of the next become weights. They are rounded
/// after the wait, because until then the product reads the ones before from their registers.
struct Overlapped {
  template <class T, class Mask>
  static __device__ void attend(T& shared, PipelineState<T::kStages>& state,
                                const Visibility<Mask>& visibility, WgmmaSoftmax& softmax, WgmmaOutputs<T>& o,
                                int consumer, int steps) {
    WgmmaScores<T> scores;
    WgmmaWeights<T> weights;
    wait(&shared.k_full[state.stage], state.parity);
    start_scores(scores, shared, consumer, state.stage);
    wgmma_wait<0>();
    wgmma_has_written(scores);
    release(&shared.k_empty[state.stage]);
    visibility.hide(scores, 0);
    softmax.next_base(scores);
    softmax.to_weights(scores);
    round_weights(weights, scores);
    for (int step = 1; step < steps; ++step) {
      const PipelineState<T::kStages> before = state;
      state.advance();
      wait(&shared.k_full[state.stage], state.parity);
      start_scores(scores, shared, consumer, state.stage);
      wait(&shared.v_full[before.stage], before.parity);
      start_values(o, weights, shared, before.stage);
      wgmma_wait<1>();
      wgmma_has_written(scores);
      release(&shared.k_empty[state.stage]);
      visibility.hide(scores, step * T::kKeys);
      softmax.next_base(scores);
      softmax.to_weights(scores);
      wgmma_wait<0>();
      wgmma_has_written(o);
      release(&shared.v_empty[before.stage]);
      softmax.rescale(o);
      round_weights(weights, scores);
    }
    release(&shared.q_empty[consumer]);
    wait(&shared.v_full[state.stage], state.parity);
    start_values(o, weights, shared, state.stage);
    wgmma_wait<0>();
    wgmma_has_written(o);
    release(&shared.v_empty[state.stage]);
    state.advance();
  }
};
// [overlap]

#endif

// --- On the host ---

struct Overlap {
  static constexpr Stage row = kOnHopper<Full>.with(
      {.name = "15_overlap", .idea = "a softmax beside the product of the weights before and v"});
#ifdef WORKBOOK_GPU
  using Runs = WgmmaFlash<TwoNarrowGroups, TwoWideGroups, Full, Overlapped>;
#endif
};

}  // namespace DEVICE::attention
