/// \file
/// For stages 14 to 17: the tiles in shared memory, the producer that fills them, and what a consumer
/// warpgroup does with them. Hopper (sm_90a).
#pragma once
#include "12_mma.gpu.cuh"
#include "hopper.sm90a.cuh"

namespace DEVICE::attention {

// [wgmma tiles]
/// In shared memory: Consumers warpgroups have 64 queries each, of up to Elements elements, and take their
/// keys Keys at a time; Stages tiles of k, and as many of v, are there or in flight. The rows of a swizzled
/// tile are 64 elements long, so a tile of longer rows is stored as two, one after the other.
template <int Elements, int Consumers, int Keys, int Stages>
struct WgmmaTiles {
  static constexpr int D = Elements, kConsumers = Consumers, kKeys = Keys, kStages = Stages;
  static constexpr int kQueries = 64 * Consumers, kThreads = 128 * (Consumers + 1);
  /// The producer's warpgroup gives up most of its registers. All together have those that the block starts
  /// with: 65,536 / kThreads per thread, rounded down to a multiple of 8. A warpgroup that asks for
  /// more waits for ever.
  static constexpr int kProducerRegisters = Consumers == 3 ? 32 : 24;
  static constexpr int kConsumerRegisters = Consumers == 2 ? 240 : Consumers == 3 ? 160 : 112;

  alignas(kTileAlignment) __nv_bfloat16 q[Consumers][64 * Elements];
  alignas(kTileAlignment) __nv_bfloat16 k[Stages][Keys * Elements];
  alignas(kTileAlignment) __nv_bfloat16 v[Stages][Keys * Elements];
  alignas(kTileAlignment) __nv_bfloat16 o[Consumers][64 * Elements];
  Barrier q_full[Consumers], q_empty[Consumers];
  Barrier k_full[Stages], k_empty[Stages], v_full[Stages], v_empty[Stages];
  int work[Consumers];  ///< in stage 17, the number of what each consumer has to do

  /// One thread calls it, before any other uses the tiles. Each consumer's warps arrive at what is empty.
  __device__ void init_barriers() {
    for (int c = 0; c < Consumers; ++c) {
      init_barrier(&q_full[c], 1);
      init_barrier(&q_empty[c], 4);
    }
    for (int i = 0; i < Stages; ++i) {
      init_barrier(&k_full[i], 1);
      init_barrier(&v_full[i], 1);
      init_barrier(&k_empty[i], 4 * Consumers);
      init_barrier(&v_empty[i], 4 * Consumers);
    }
    fence_barrier_init();
  }
};
// [wgmma tiles]

/// The matrices that the TMA copies from and to, a stack of heads each.
struct HeadMaps {
  CUtensorMap q, k, v, o;
};

/// The first query of the first tile. With a mask it may be negative: then the tile that is not full is the
/// first one, which has the fewest keys, and its first consumers have nothing to do.
template <class T, class Mask>
__host__ __device__ inline int first_query(Sizes s) {
  if (!Mask::kCausal) return 0;
  return -(T::kConsumers - ceil_div(s.queries, 64) % T::kConsumers) % T::kConsumers * 64;
}

/// The work of a block, as from mma_place_of(), with tiles from first_query() on.
template <class T, class Mask>
__device__ inline HalfPlace wgmma_place_of(Sizes s, int block) {
  HalfPlace at = mma_place_of<T, Mask>(s, block);
  at.first += first_query<T, Mask>(s);
  at.end = Mask::visible(s, at.first + T::kQueries - 1);
  return at;
}

/// Tiles of T::kKeys keys that a block with this work takes: at least one, so that no loop is empty.
template <class T>
__device__ inline int steps_of(const HalfPlace& at) {
  return max(ceil_div(at.end, T::kKeys), 1);
}

// [attention producer]
/// Starts the copy of `rows` rows of a head, from `row` on.
template <class T>
__device__ inline void load_rows(__nv_bfloat16* tile, const CUtensorMap* map, int head, int row, int rows,
                                 Barrier* full) {
#pragma unroll
  for (int c = 0; c < T::D; c += kSwizzledColumns) tma_load(tile + c * rows, map, head, row, c, full);
}

/// The producer's loop for the work of a block, run by one thread. `round` counts such work; `number` is left
/// for the consumers.
template <class T>
__device__ inline void produce(T& shared, PipelineState<T::kStages>& state, const HeadMaps& maps,
                               const HalfPlace& at, int key_head, int round, int number) {
  const int steps = steps_of<T>(at);
  for (int step = 0; step < steps; ++step, state.advance()) {
    const int stage = state.stage, first_key = step * T::kKeys;
    wait(&shared.k_empty[stage], state.parity ^ 1);
    arrive_expect_tx(&shared.k_full[stage], sizeof shared.k[stage]);
    load_rows<T>(shared.k[stage], &maps.k, key_head, first_key, T::kKeys, &shared.k_full[stage]);
    for (int c = 0; step == 0 && c < T::kConsumers; ++c) {
      wait(&shared.q_empty[c], round % 2 ^ 1);
      shared.work[c] = number;
      arrive_expect_tx(&shared.q_full[c], sizeof shared.q[c]);
      load_rows<T>(shared.q[c], &maps.q, at.head, max(at.first + 64 * c, 0), 64, &shared.q_full[c]);
    }
    wait(&shared.v_empty[stage], state.parity ^ 1);
    arrive_expect_tx(&shared.v_full[stage], sizeof shared.v[stage]);
    load_rows<T>(shared.v[stage], &maps.v, key_head, first_key, T::kKeys, &shared.v_full[stage]);
  }
}
// [attention producer]

/// A consumer's accumulators of scores and of outputs, and its weights as first operands of wgmma.
template <class T>
using WgmmaScores = float[T::kKeys / 2];
template <class T>
using WgmmaOutputs = float[T::D / 2];
template <class T>
using WgmmaWeights = unsigned[T::kKeys / 16][4];

// [start products]
/// Starts scores = q * k^T with the keys of a stage, 16 elements at a time: 2 units of a descriptor.
template <class T>
__device__ inline void start_scores(WgmmaScores<T>& scores, const T& shared, int consumer, int stage) {
  wgmma_fence();
#pragma unroll
  for (int c = 0; c < T::D; c += kSwizzledColumns) {
    const unsigned long long of_q = matrix_descriptor(shared.q[consumer] + c * 64);
    const unsigned long long of_k = matrix_descriptor(shared.k[stage] + c * T::kKeys);
#pragma unroll
    for (int i = 0; i < kSwizzledColumns / 16; ++i)
      if (c + i == 0)
        wgmma<0>(scores, of_q, of_k);
      else
        wgmma(scores, of_q + 2 * i, of_k + 2 * i);
  }
  wgmma_commit();
}

/// Starts o += weights * v with the values of a stage, 16 keys at a time: 16 rows of kSwizzledRowBytes, in
/// units of 16 bytes. v stays as it is in memory, keys as its rows: wgmma reads its second operand along
/// either direction.
template <class T>
__device__ inline void start_values(WgmmaOutputs<T>& o, const WgmmaWeights<T>& weights, const T& shared,
                                    int stage) {
  const unsigned long long of_v = rows_descriptor(shared.v[stage], T::kKeys * kSwizzledRowBytes);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < T::kKeys / 16; ++i) wgmma_by_rows(o, weights[i], of_v + i * kSwizzledRowBytes);
  wgmma_commit();
}
// [start products]

// [wgmma softmax]
/// MmaSoftmax for two rows of a lane: the lanes of a row exchange their maxima only if one of the warp's rows
/// must be rescaled. Then all rows of the warp are, each to its maximum so far.
struct WgmmaSoftmax {
  static constexpr float kGrowth = 8.0f;
  float c, base[2] = {-INFINITY, -INFINITY}, sum[2] = {}, factor[2];
  bool grown;

  __device__ explicit WgmmaSoftmax(float scale) : c(scale * 1.44269504f) {}

  /// Takes the next scores into account. If one of them has `grown` too large, outputs must be rescaled.
  template <int Scores>
  __device__ void next_base(const float (&scores)[Scores]) {
    float largest[2];
    grown = false;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      largest[row] = fmaxf(scores[2 * row], scores[2 * row + 1]);
#pragma unroll
      for (int j = 4; j < Scores; j += 4)
        largest[row] = fmaxf(largest[row], fmaxf(scores[j + 2 * row], scores[j + 2 * row + 1]));
      grown = grown || c * (largest[row] - base[row]) > kGrowth;
    }
    grown = __any_sync(0xffffffffu, grown);
    if (!grown) return;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float next = quad_max(fmaxf(largest[row], base[row]));
      factor[row] = next == -INFINITY ? 1.0f : exp2_in_hardware(c * (base[row] - next));
      base[row] = next;
      sum[row] *= factor[row];
    }
  }

  template <int Outputs>
  __device__ void rescale(float (&o)[Outputs]) const {
    if (!grown) return;
#pragma unroll
    for (int i = 0; i < Outputs; ++i) o[i] *= factor[i / 2 % 2];
  }

  /// Turns the scores into weights relative to the base, and adds them up.
  template <int Scores>
  __device__ void to_weights(float (&scores)[Scores]) {
    float offset[2];
#pragma unroll
    for (int row = 0; row < 2; ++row) offset[row] = base[row] == -INFINITY ? 0.0f : c * base[row];
#pragma unroll
    for (int i = 0; i < Scores; ++i) {
      scores[i] = exp2_in_hardware(fmaf(c, scores[i], -offset[i / 2 % 2]));
      sum[i / 2 % 2] += scores[i];
    }
  }
};
// [wgmma softmax]

/// Rounds weights to operands.
template <int Weights>
__device__ inline void round_weights(unsigned (&to)[Weights / 8][4], const float (&weights)[Weights]) {
#pragma unroll
  for (int i = 0; i < Weights / 2; ++i) to[i / 4][i % 4] = as_operand(weights[2 * i], weights[2 * i + 1]);
}

/// For a consumer's lane: the keys that its queries see, so that it can hide the others.
template <class Mask>
struct Visibility {
  Sizes s;
  int query;   ///< the first of this lane's two, 8 apart
  int to_all;  ///< keys that all queries of this warp see

  __device__ Visibility(Sizes s, int first) : s(s), query(first + threadIdx.x % 128 / 32 * 16) {
    to_all = Mask::visible(s, query);
    query += threadIdx.x % 32 / 4;
  }

  template <int Scores>
  __device__ void hide(float (&scores)[Scores], int first_key) const {
    if (first_key + 2 * Scores <= to_all) return;
    const int column = first_key + threadIdx.x % 4 * 2;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int visible = Mask::visible(s, query + 8 * row) - column;
#pragma unroll
      for (int i = 0; i < Scores / 2; ++i)
        if (i / 2 * 8 + i % 2 >= visible) scores[i / 2 * 4 + 2 * row + i % 2] = -INFINITY;
    }
  }
};

/// The tiles that a consumer's queries, from `first` on, see of the `steps` tiles of their block.
template <class T, class Mask>
__device__ inline int own_steps(Sizes s, int first, int steps) {
  if (first < 0 || first >= s.queries) return 1;
  return Mask::kCausal ? min(max(ceil_div(Mask::visible(s, first + 63), T::kKeys), 1), steps) : steps;
}

/// One lane of each warp arrives at `empty`: the warp has read what it guards.
__device__ inline void release(Barrier* empty) {
  if (threadIdx.x % 32 == 0) arrive(empty);
}

/// Releases the tiles from `step` on that a consumer does not need.
template <class T>
__device__ inline void skip(T& shared, PipelineState<T::kStages>& state, int step, int steps) {
  for (; step < steps; ++step, state.advance()) {
    wait(&shared.k_full[state.stage], state.parity);
    release(&shared.k_empty[state.stage]);
    wait(&shared.v_full[state.stage], state.parity);
    release(&shared.v_empty[state.stage]);
  }
}

// [attention store]
/// Stores a consumer's outputs, divided by the sums of their weights and rounded, through its tile of o.
template <class T>
__device__ inline void store_outputs(T& shared, const HeadMaps& maps, const WgmmaOutputs<T>& o,
                                     const WgmmaSoftmax& softmax, int consumer, int head, int first) {
  const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
  float factor[2];
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float all = quad_sum(softmax.sum[e]);
    factor[e] = all > 0.0f ? 1.0f / all : 0.0f;
  }
  if (threadIdx.x % 128 == 0) tma_store_wait_read();  // of the tile's last outputs
  named_barrier(1 + consumer, 128);
#pragma unroll
  for (int i = 0; i < T::D / 16; ++i) {
    unsigned of_columns[4];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      of_columns[e] = as_operand(o[8 * i + 2 * e] * factor[e % 2], o[8 * i + 2 * e + 1] * factor[e % 2]);
    const unsigned tile = shared_address(shared.o[consumer] + i / 4 * 64 * kSwizzledColumns);
    stmatrix_x4(tile + row * kSwizzledRowBytes + ((i % 4 * 2 + lane / 16) ^ row % 8) * 16, of_columns);
  }
  fence_proxy_async();
  named_barrier(1 + consumer, 128);
  if (threadIdx.x % 128 == 0 && first >= 0)
#pragma unroll
    for (int c = 0; c < T::D; c += kSwizzledColumns)
      tma_store(&maps.o, head, first, c, shared.o[consumer] + c * 64);
}
// [attention store]

// --- On the host ---

/// The TMA's descriptions of q, k, v and `o`, for tiles of T. d is a multiple of 8.
template <class T>
HeadMaps head_maps(const Operands<BFloat16>& a, const __nv_bfloat16* o) {
  const Sizes& s = a.sizes;
  return {stack_map(a.q, s.heads, s.queries, s.d, 64), stack_map(a.k, s.key_heads, s.keys, s.d, T::kKeys),
          stack_map(a.v, s.key_heads, s.keys, s.d, T::kKeys), stack_map(o, s.heads, s.queries, s.d, 64)};
}

/// Blocks, one per head and T::kQueries queries.
template <class T>
int wgmma_blocks(const Sizes& s) {
  return s.heads * ceil_div(s.queries, T::kQueries);
}

template <class T, class Mask>
Traffic wgmma_traffic(const Shape& s) {
  return half_flash_traffic<Mask>(s, T::kQueries, T::kKeys, first_query<T, Mask>(sizes(s)));
}

inline bool rows_are_chunks(const Shape& s) { return rows_fit(s) && s.dims[4] % 8 == 0; }

}  // namespace DEVICE::attention
