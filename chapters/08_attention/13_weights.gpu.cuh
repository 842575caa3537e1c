/// \file
/// Stage 13: the weights alone, as in stage 2, in bfloat16 by mma.sync. All keys of a head stay in shared
/// memory while a block goes through its queries; three groups of warps take turns at the tensor cores. The
/// keys are numbered such that each lane has eight weights in a row, which it stores at once.
#pragma once
#include "problem.cuh"
#ifdef WORKBOOK_GPU
#include "mma_tiles.gpu.cuh"
#endif

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [weight sizes]
/// A group of four warps has 16 queries, of up to 64 elements, and up to Keys keys; a block has kGroups of
/// them.
template <int Keys>
struct WeightTiles {
  static constexpr int D = 64, kKeys = Keys, kGroups = 3, kGroupThreads = 128, kQueries = 16;
  static constexpr int kThreads = kGroupThreads * kGroups, kWarpKeys = Keys / 4;
  alignas(kMmaAlignment) unsigned char k[Keys * 2 * D];
  alignas(kMmaAlignment) unsigned char q[kGroups][2][kQueries * 2 * D];  // one is used, the next is copied
  float largest[kGroups][4][kQueries], sums[kGroups][4][kQueries];       // of each warp
};
// [weight sizes]

// [permuted keys]
/// mma.sync gives lane l the columns 2 (l % 4) and the next of each 8 keys. For lane l to have the keys from
/// 8 (l % 4) on of each 32, column n of tile j gets key 8 (n / 2) + 2 j + n % 2. ldmatrix loads any eight
/// rows; this swizzle places those of a tile in different banks.
struct ByPermutedKey {
  static constexpr int kPeriod = 32;
  __device__ static int of(int row) { return row % 2 + row / 8 % 4 * 2; }
};
// [permuted keys]

/// of_row[e] = op over the four warps of a group, of the values for row lane / 4 and the one eight below.
template <class Op>
__device__ inline void across_group(float (&of_row)[2], float (*of_warps)[16], int group, Op op) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  if (lane % 4 == 0) of_warps[warp][lane / 4] = of_row[0], of_warps[warp][lane / 4 + 8] = of_row[1];
  named_barrier(group + 1, 128);
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int row = lane / 4 + 8 * e;
    of_row[e] = op(op(of_warps[0][row], of_warps[1][row]), op(of_warps[2][row], of_warps[3][row]));
  }
}

// [weights]
/// p[h][i] = softmax over the keys that query i sees of scale * (q[h][i] * k[key_head(h)][j]), in bfloat16,
/// for up to T::kKeys keys and d up to T::D. A block of T::kThreads threads has the `tiles_each` tiles of
/// T::kQueries queries from blockIdx.y * tiles_each on, of head blockIdx.x; tiles_each is a multiple of
/// T::kGroups. Traffic: each block reads 2 d bytes per key and per query, and writes 2 bytes per weight.
template <class T, class Mask>
__global__ void __launch_bounds__(T::kThreads)
    weights_by_mma(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                   __nv_bfloat16* __restrict__ p, Sizes s, float scale, int tiles_each) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int kRowBytes = 2 * T::D, kTiles = T::kWarpKeys / 8;
  T& shared = *reinterpret_cast<T*>(aligned_shared());
  const int group = threadIdx.x / T::kGroupThreads, t = threadIdx.x % T::kGroupThreads, lane = t % 32;
  const int head = blockIdx.x, first_tile = blockIdx.y * tiles_each;
  const HalfMatrix of_q(q + static_cast<size_t>(head) * s.queries * s.d, s.queries, s.d);
  const HalfMatrix of_k(k + static_cast<size_t>(s.key_head(head)) * s.keys * s.d, s.keys, s.d);
  const auto fetch = [&](int j) {  // tile j of the block's, and those of the other groups after it
    if (j < tiles_each)
      copy_tile<T::D, T::kQueries, T::kGroupThreads, ByRow>(shared.q[group][j / T::kGroups % 2], of_q,
                                                            (first_tile + j + group) * T::kQueries, t);
  };
  copy_tile<T::D, T::kKeys, T::kThreads, ByPermutedKey>(shared.k, of_k, 0, threadIdx.x);
  fetch(0);
  cp_async_wait_all();
  __syncthreads();

  const int warp_key = t / 32 * T::kWarpKeys, my_key = warp_key + lane % 4 * 8, n = lane % 8;
  const unsigned my_k = shared_address(shared.k) +
                        (warp_key + n / 2 * 8 + n % 2 + lane / 16 * 2) * kRowBytes + (lane / 8 % 2 ^ n) * 16;
  const float c = scale * 1.44269504f;
  const bool aligned = starts_vectors(p, s.keys);
  for (int j = 0; j < tiles_each; j += T::kGroups) {
    const int first = (first_tile + j + group) * T::kQueries;
    fetch(j + T::kGroups);
    // [weight product]
    const unsigned my_q = shared_address(shared.q[group][j / T::kGroups % 2]) + lane % 16 * kRowBytes +
                          (lane / 16 ^ lane % 8) * 16;
    float acc[kTiles][4] = {};
#pragma unroll
    for (int i = 0; i < T::D / 16; ++i) {
      unsigned x[4];
      ldmatrix_x4(x, my_q ^ 32 * i);
#pragma unroll
      for (int m = 0; m < kTiles / 2; ++m) {
        unsigned w[4];
        ldmatrix_x4(w, (my_k ^ 32 * i) + (m / 2 * 32 + m % 2 * 4) * kRowBytes);
        mma_m16n8k16(acc[2 * m], x, w[0], w[1]);
        mma_m16n8k16(acc[2 * m + 1], x, w[2], w[3]);
      }
    }
    // [weight product]
    if (warp_key + T::kWarpKeys > Mask::visible(s, first))
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int visible = Mask::visible(s, first + lane / 4 + 8 * e) - my_key;
#pragma unroll
        for (int i = 0; i < 2 * kTiles; ++i)
          if (i / 8 * 32 + i % 8 >= visible) acc[i / 2][2 * e + i % 2] = -INFINITY;
      }
    float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {};
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll
      for (int i = 0; i < 2 * kTiles; ++i) largest[e] = fmaxf(largest[e], acc[i / 2][2 * e + i % 2]);
      largest[e] = quad_max(largest[e]);
    }
    across_group(largest, shared.largest[group], group, fmaxf);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float offset = largest[e] == -INFINITY ? 0.0f : c * largest[e];
#pragma unroll
      for (int i = 0; i < 2 * kTiles; ++i) {
        float& score = acc[i / 2][2 * e + i % 2];
        score = exp2_in_hardware(fmaf(c, score, -offset));
        sum[e] += score;
      }
      sum[e] = quad_sum(sum[e]);
    }
    cp_async_wait_all();  // the barrier in across_group() then says that the next queries are there
    across_group(sum, shared.sums[group], group, [](float a, float b) { return a + b; });
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int query = first + lane / 4 + 8 * e;
      const float factor = sum[e] == 0.0f ? 0.0f : 1.0f / sum[e];
      __nv_bfloat16* row = p + (static_cast<size_t>(head) * s.queries + query) * s.keys;
#pragma unroll
      for (int i = 0; i < kTiles / 4; ++i) {
        Pack<__nv_bfloat16> eight;
        unsigned* const pairs = reinterpret_cast<unsigned*>(&eight.bits);
#pragma unroll
        for (int m = 0; m < 4; ++m)
          pairs[m] = as_operand(acc[4 * i + m][2 * e] * factor, acc[4 * i + m][2 * e + 1] * factor);
        if (query < s.queries) store_eight(row + my_key + 32 * i, eight, s.keys - my_key - 32 * i, aligned);
      }
    }
  }
#endif
}
// [weights]

// --- On the host ---

using WeightTiles256 = WeightTiles<256>;
using WeightTiles512 = WeightTiles<512>;
using WeightTiles1024 = WeightTiles<1024>;

/// How many tiles of queries a block takes: as few as keep its copy of the keys, worth about two tiles,
/// cheap, where blocks come in rounds of one for each of an H200's multiprocessors.
inline int tiles_per_block(const Sizes& s) {
  constexpr int kMultiprocessors = 132, kWorthOfKeys = 2;
  const int tiles = ceil_div(s.queries, WeightTiles1024::kQueries);
  long long least = 0;
  constexpr int kGroups = WeightTiles1024::kGroups;
  int best = 0;
  for (int each = kGroups; best == 0 || each < tiles + kGroups; each += kGroups) {
    const long long blocks = static_cast<long long>(s.heads) * ceil_div(tiles, each);
    const long long cost = (blocks + kMultiprocessors - 1) / kMultiprocessors * (each + kWorthOfKeys);
    if (best == 0 || cost <= least) best = each, least = cost;
  }
  return best;
}
#endif

struct MmaWeights {
  static constexpr Stage row =
      kHalfWeights.with({.name = "13_weights",
                         .idea = "the weights alone in bfloat16, the keys stay in shared memory",
                         .needs = "a GPU; at most 1024 keys and 2^28 scores, d <= 64",
                         .capability = 80});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    const int keys = data.shape.dims[3];
    if (keys <= 256)
      launch_with<WeightTiles256>(data);
    else if (keys <= 512)
      launch_with<WeightTiles512>(data);
    else
      launch_with<WeightTiles1024>(data);
  }
  static Traffic traffic(const Shape& s) {
    const long long blocks = ceil_div(ceil_div(s.dims[2], 16), tiles_per_block(sizes(s)));
    const long long of_k = 2 * blocks * s.dims[0] * s.dims[3] * s.dims[4];
    return {2 * q_elements(s) + of_k, 2 * all_scores(s), repeated(of_k, 2 * k_elements(s))};
  }
  static bool suits(const Shape& s) {
    return s.dims[3] <= 1024 && s.dims[4] <= WeightTiles1024::D && scores_are_compared(s);
  }

 private:
  template <class T>
  static void launch_with(const Data& data) {
    const auto a = operands<BFloat16>(data);
    const int each = tiles_per_block(a.sizes);
    const dim3 grid(static_cast<unsigned>(a.sizes.heads),
                    static_cast<unsigned>(ceil_div(ceil_div(a.sizes.queries, T::kQueries), each)));
    launch_shared(weights_by_mma<T, Full>, grid, T::kThreads, kMmaAlignment + sizeof(T), a.q, a.k,
                  data[kHalfP], a.sizes, a.scale, each);
  }
#endif
};

}  // namespace DEVICE::attention
