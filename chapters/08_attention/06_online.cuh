/// \file
/// Stage 6: the online softmax. The second product reads the scores once: when a larger one arrives, what has
/// been summed up is rescaled.
#pragma once
#include "online.cuh"

namespace DEVICE::attention {

// [online]
/// o[h][i] = the sum over j of softmax(scale * scores[h][i])[j] * v[key_head(h)][j]; blocks as in
/// weighted_values(). Traffic: each block reads its scores once and v once, and writes 4 d bytes per query.
template <int D>
__global__ void __launch_bounds__(kThreads)
    online_values(const float* __restrict__ scores, const float* __restrict__ v, float* __restrict__ o,
                  Sizes s, float scale) {
  auto& tiles = *dynamic_shared<ValueTiles<D>>();
  const Place at = place_of(s, blockIdx.x);
  OnlineSoftmax softmax;
  Output<D> acc = {};
  for (int first_key = 0; first_key < s.keys; first_key += BN) {
    float of_thread[TM][TN];
    load_tile(of_thread, scores, at, first_key, s);
    softmax.absorb<Full>(of_thread, acc, s, at.first + at.row, first_key + at.column, scale);
    store_transposed(tiles.p, of_thread, at);
    copy_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    add_weighted_values<D>(acc, tiles.p, tiles.v, at.row, at.column);
    __syncthreads();
  }
  float factors[TM];
  softmax.factors(factors);
  store_output<D>(o + at.q_start, acc, factors, at.first + at.row, at.column, s.queries, s.d);
}
// [online]

// --- On the host ---

struct Online {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch_multiply(a, 1.0f);
    const bool narrow = a.sizes.d <= 64;
    launch_shared(narrow ? online_values<64> : online_values<128>, query_tiles(a.sizes), kThreads,
                  narrow ? sizeof(ValueTiles<64>) : sizeof(ValueTiles<128>), a.scores, a.v, data.floats("o"),
                  a.sizes, a.scale);
  }
  static Traffic traffic(const Shape& s) { return multiply_traffic(s) + values_traffic(s); }
  static bool suits(const Shape& s) { return rows_fit(s) && scores_fit(s); }
};

}  // namespace DEVICE::attention
