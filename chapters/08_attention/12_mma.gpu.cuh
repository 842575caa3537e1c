/// \file
/// Stage 12: bfloat16 by mma.sync. Its accumulators are in documented lanes, in the same places as its first
/// operand: so the weights of one product are the operand of the next, and never leave their registers. Tiles
/// of k and v are copied while others are multiplied (T. Dao, FlashAttention-2, 2023, arXiv 2307.08691).
#pragma once
#include "tensor_tiles.cuh"
#ifdef WORKBOOK_GPU
#include "mma_tiles.gpu.cuh"
#endif

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [mma tiles]
/// A block of Warps warps has 16 * RowTiles queries per warp, and takes their keys Keys at a time. The
/// queries stay in shared memory; two tiles of k and two of v are there in turn. Blocks of them fit on a
/// multiprocessor. With KeepsQueries, a warp has its queries in registers, as many as RowTiles * D / 4. With
/// WholeRows, d is D and rows start at multiples of 16 bytes, so that distances between rows are constants.
template <int Elements, int RowTiles, int Warps, int Keys, int Blocks, bool KeepsQueries, bool WholeRows>
struct MmaTiles {
  static constexpr int D = Elements, kRowTiles = RowTiles, kWarps = Warps, kKeys = Keys, kBlocks = Blocks;
  static constexpr int kThreads = 32 * Warps, kWarpRows = 16 * RowTiles, kQueries = kWarpRows * Warps;
  static constexpr int kRowBytes = 2 * D, kQueryBytes = kQueries * kRowBytes, kTileBytes = Keys * kRowBytes;
  static constexpr int kSharedBytes = kMmaAlignment + kQueryBytes + 4 * kTileBytes;
  static constexpr bool kKeepsQueries = KeepsQueries, kWholeRows = WholeRows;
};
// [mma tiles]

/// The accumulators of a warp's scores, and of its outputs.
template <class T>
using MmaScores = float[T::kRowTiles][T::kKeys / 8][4];
template <class T>
using MmaOutputs = float[T::kRowTiles][T::D / 8][4];

/// A warp's queries as operands, if it keeps them.
template <class T>
using MmaQueries = unsigned[T::kKeepsQueries ? T::D / 16 : 1][T::kRowTiles][4];

/// Where the chunks of step i of 16 elements are in a row of a tile, given those of step 0: an exclusive or
/// changes the position among eight chunks, and what follows is a constant distance away.
__device__ inline unsigned at_step(unsigned first, int i) { return (first ^ i % 4 * 32) + i / 4 * 128; }

// [score product]
/// Loads a warp's queries at step i of 16 elements. `my_q` is the address of this lane's row of the first
/// row tile, at its first chunk.
template <class T>
__device__ inline void load_queries(unsigned (&to)[T::kRowTiles][4], unsigned my_q, int i) {
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) ldmatrix_x4(to[r], at_step(my_q, i) + r * 16 * T::kRowBytes);
}

/// scores = q * k^T. `my_k` is as my_q, of this lane's key.
template <class T>
__device__ inline void multiply_by_keys(MmaScores<T>& scores, MmaQueries<T>& kept, unsigned my_q,
                                        unsigned my_k) {
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r)
#pragma unroll
    for (int j = 0; j < T::kKeys / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) scores[r][j][e] = 0.0f;
#pragma unroll
  for (int i = 0; i < T::D / 16; ++i) {
    auto& of_q = kept[T::kKeepsQueries ? i : 0];
    if constexpr (!T::kKeepsQueries) load_queries<T>(of_q, my_q, i);
#pragma unroll
    for (int j = 0; j < T::kKeys / 16; ++j) {
      unsigned of_k[4];
      ldmatrix_x4(of_k, at_step(my_k, i) + j * 16 * T::kRowBytes);
#pragma unroll
      for (int r = 0; r < T::kRowTiles; ++r) {
        mma_m16n8k16(scores[r][2 * j], of_q[r], of_k[0], of_k[1]);
        mma_m16n8k16(scores[r][2 * j + 1], of_q[r], of_k[2], of_k[3]);
      }
    }
  }
}
// [score product]

// [value product]
/// o += weights * v. A lane's accumulators for 16 keys are the values that the first operand needs there:
/// elements 0 and 1 belong to its row, 2 and 3 to the one eight rows below; then the same for the next 8
/// keys. `my_v` is the address of this lane's key, at its first chunk.
template <class T>
__device__ inline void add_weighted_values(MmaOutputs<T>& o, const MmaScores<T>& weights, unsigned my_v) {
#pragma unroll
  for (int j = 0; j < T::kKeys / 16; ++j) {
    // [operand]
    unsigned of_p[T::kRowTiles][4];
#pragma unroll
    for (int r = 0; r < T::kRowTiles; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float* pair = &weights[r][2 * j + e / 2][e % 2 * 2];
        of_p[r][e] = as_operand(pair[0], pair[1]);
      }
      // [operand]
#pragma unroll
    for (int c = 0; c < T::D / 16; ++c) {
      unsigned of_v[4];
      ldmatrix_x4_trans(of_v, at_step(my_v, c) + j * 16 * T::kRowBytes);
#pragma unroll
      for (int r = 0; r < T::kRowTiles; ++r) {
        mma_m16n8k16(o[r][2 * c], of_p[r], of_v[0], of_v[1]);
        mma_m16n8k16(o[r][2 * c + 1], of_p[r], of_v[2], of_v[3]);
      }
    }
  }
}
// [value product]

// [mma softmax]
/// LazySoftmax for a warp's accumulators: a lane has part of 2 * RowTiles rows, which it shares with the
/// other three of its quad. Row 2 r + h is row lane / 4 + 8 h of row tile r. `sum` is of this lane's weights
/// alone.
template <class T>
struct MmaSoftmax {
  static constexpr int kRows = 2 * T::kRowTiles;
  static constexpr float kGrowth = 8.0f;
  float c, base[kRows], sum[kRows];

  __device__ explicit MmaSoftmax(float scale) : c(scale * 1.44269504f) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) base[row] = -INFINITY, sum[row] = 0.0f;
  }

  /// Takes the next scores into account, and rescales sums and outputs if a row of this warp has grown by
  /// more than 2^kGrowth. Only then do lanes compare their largest scores.
  __device__ void next_base(const MmaScores<T>& scores, MmaOutputs<T>& o) {
    float largest[kRows];
    bool grown = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const auto& of_row = scores[row / 2];
      const int first = row % 2 * 2;
      largest[row] = fmaxf(of_row[0][first], of_row[0][first + 1]);
#pragma unroll
      for (int j = 1; j < T::kKeys / 8; ++j)
        largest[row] = fmaxf(largest[row], fmaxf(of_row[j][first], of_row[j][first + 1]));
      grown = grown || c * largest[row] > c * base[row] + kGrowth;
    }
    if (__any_sync(0xffffffffu, grown)) rescale(largest, o);
  }

  /// Rows that have grown are rescaled to their largest score, the others keep their base. `largest` is of
  /// this lane's scores alone.
  __device__ void rescale(float (&largest)[kRows], MmaOutputs<T>& o) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      largest[row] = quad_max(largest[row]);
      if (!(c * largest[row] > c * base[row] + kGrowth)) continue;
      const float factor = exp2_in_hardware(c * (base[row] - largest[row]));  // 0 the first time
      base[row] = largest[row];
      sum[row] *= factor;
#pragma unroll
      for (int j = 0; j < T::D / 8; ++j) {
        o[row / 2][j][row % 2 * 2] *= factor;
        o[row / 2][j][row % 2 * 2 + 1] *= factor;
      }
    }
  }

  /// Turns the scores into weights relative to the base, and adds them up.
  __device__ void to_weights(MmaScores<T>& scores) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float offset = base[row] == -INFINITY ? 0.0f : c * base[row];
#pragma unroll
      for (int j = 0; j < T::kKeys / 8; ++j)
#pragma unroll
        for (int e = row % 2 * 2; e < row % 2 * 2 + 2; ++e) {
          float& score = scores[row / 2][j][e];
          score = exp2_in_hardware(fmaf(c, score, -offset));
          sum[row] += score;
        }
    }
  }

  /// 1 / the sum of all weights of a row, or 0 for a query that saw no key.
  __device__ float factor(int row) const {
    const float all = quad_sum(sum[row]);
    return all > 0.0f ? 1.0f / all : 0.0f;
  }
};
// [mma softmax]

/// Hides the keys of a tile that queries do not see: `column` is this lane's first key, `query` its first
/// query.
template <class T, class Mask>
__device__ inline void hide_keys(MmaScores<T>& scores, Sizes s, int query, int column) {
#pragma unroll
  for (int row = 0; row < 2 * T::kRowTiles; ++row) {
    const int visible = Mask::visible(s, query + 8 * row) - column;
#pragma unroll
    for (int j = 0; j < T::kKeys / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * j + e >= visible) scores[row / 2][j][row % 2 * 2 + e] = -INFINITY;
  }
}

// [mma store]
/// Stores a warp's outputs, rounded, through its part of the queries' tile, so that lanes store 16 bytes each
/// and warps whole sectors.
template <class T>
__device__ inline void store_outputs(const MmaOutputs<T>& of_warp, const MmaSoftmax<T>& softmax,
                                     unsigned char* tile, __nv_bfloat16* __restrict__ o, int first, Sizes s) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int row = 0; row < 2 * T::kRowTiles; ++row) {
    const float factor = softmax.factor(row);
    unsigned char* to = tile + (lane / 4 + 8 * row) * T::kRowBytes + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < T::D / 8; ++j) {
      const float* pair = &of_warp[row / 2][j][row % 2 * 2];
      *reinterpret_cast<unsigned*>(to + (j ^ lane / 4) * 16) = as_operand(pair[0] * factor, pair[1] * factor);
    }
  }
  __syncwarp();
  const bool aligned = starts_vectors(o, s.d);
#pragma unroll
  for (int at = lane; at < T::kWarpRows * T::D / 8; at += 32) {
    const int row = at / (T::D / 8), c = at % (T::D / 8);
    Pack<__nv_bfloat16> eight;
    eight.bits = *reinterpret_cast<const uint4*>(tile + row * T::kRowBytes + (c ^ row % 8) * 16);
    if (first + row < s.queries)
      store_eight(o + static_cast<size_t>(first + row) * s.d + c * 8, eight, s.d - c * 8, aligned);
  }
}
// [mma store]

// [mma place]
/// The keys and values of the heads in use at a time should fit well into the L2 cache.
constexpr int kBytesTogether = 32 << 20;

/// The work of a block, as from half_place_of(). With a mask, of some heads at a time, first the last tile of
/// each.
template <class T, class Mask>
__device__ inline HalfPlace mma_place_of(Sizes s, int block) {
  const int tiles = ceil_div(s.queries, T::kQueries);
  int head = block / tiles, tile = block % tiles;
  if (Mask::kCausal) {
    const int fit = max(kBytesTogether / 4 / s.d / s.keys, 1), first_head = head / fit * fit;
    const int together = min(fit, s.heads - first_head);
    const int in_group = block - first_head * tiles;
    head = first_head + in_group % together;
    tile = tiles - 1 - in_group / together;
  }
  const int last = min((tile + 1) * T::kQueries, s.queries) - 1;
  return {head, tile * T::kQueries, Mask::visible(s, last), static_cast<size_t>(head) * s.queries * s.d,
          static_cast<size_t>(s.key_head(head)) * s.keys * s.d};
}
// [mma place]

// [mma]
/// o[h][i] as in stage 10, with the same roundings, where d is at most T::D. One block of T::kThreads threads
/// per head and T::kQueries queries, with T::kSharedBytes of dynamic shared memory. Traffic: each block reads
/// its queries once and its keys and values once, and writes 2 d bytes per query.
template <class T, class Mask>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    flash_by_mma(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                 const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o, Sizes s, float scale) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (T::kWholeRows) s.d = T::D;
  unsigned char* const tile_q = aligned_shared();
  unsigned char* const tiles_k = tile_q + T::kQueryBytes;
  unsigned char* const tiles_v = tiles_k + 2 * T::kTileBytes;
  const HalfPlace at = mma_place_of<T, Mask>(s, blockIdx.x);
  const HalfMatrix of_q(q + at.q_start, s.queries, s.d, T::kWholeRows);
  const HalfMatrix of_k(k + at.k_start, s.keys, s.d, T::kWholeRows);
  const HalfMatrix of_v(v + at.k_start, s.keys, s.d, T::kWholeRows);
  const int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * T::kWarpRows;
  const int first = at.first + first_row;  // this warp's first query

  const auto fetch = [&](int first_key) {
    const int stage = first_key / T::kKeys % 2 * T::kTileBytes;
    if (first_key < at.end) {
      copy_tile<T::D, T::kKeys, T::kThreads, ByRow>(tiles_k + stage, of_k, first_key, threadIdx.x);
      copy_tile<T::D, T::kKeys, T::kThreads, ByRow>(tiles_v + stage, of_v, first_key, threadIdx.x);
    }
  };
  // The four 8x8 matrices of an ldmatrix are, of q, rows 0 to 7 and 8 to 15, then the same rows at the next
  // chunk, and so are those of v, transposed; of k, both chunks of rows 0 to 7, then both of rows 8 to 15.
  const unsigned my_half = (lane / 16 ^ lane % 8) * 16, my_half_k = (lane / 8 % 2 ^ lane % 8) * 16;
  const unsigned my_q = shared_address(tile_q) + (first_row + lane % 16) * T::kRowBytes + my_half;
  const unsigned my_k = shared_address(tiles_k) + (lane / 16 * 8 + lane % 8) * T::kRowBytes + my_half_k;
  const unsigned my_v = shared_address(tiles_v) + lane % 16 * T::kRowBytes + my_half;

  copy_tile<T::D, T::kQueries, T::kThreads, ByRow>(tile_q, of_q, at.first, threadIdx.x);
  fetch(0);
  cp_async_wait_all();
  __syncthreads();
  MmaQueries<T> kept;
  if constexpr (T::kKeepsQueries)
#pragma unroll
    for (int i = 0; i < T::D / 16; ++i) load_queries<T>(kept[i], my_q, i);

  MmaSoftmax<T> softmax(scale);
  MmaOutputs<T> of_warp = {};
  const int visible_to_all = Mask::visible(s, first), end = Mask::visible(s, first + T::kWarpRows - 1);
  // [loop]
  for (int first_key = 0; first_key < at.end; first_key += T::kKeys) {
    fetch(first_key + T::kKeys);
    if (first_key < end) {  // else no query of this warp sees the tile
      const unsigned stage = first_key / T::kKeys % 2 * T::kTileBytes;
      MmaScores<T> scores;
      multiply_by_keys<T>(scores, kept, my_q, my_k + stage);
      if (first_key + T::kKeys > visible_to_all)
        hide_keys<T, Mask>(scores, s, first + lane / 4, first_key + lane % 4 * 2);
      softmax.next_base(scores, of_warp);
      softmax.to_weights(scores);
      add_weighted_values<T>(of_warp, scores, my_v + stage);
    }
    cp_async_wait_all();
    __syncthreads();  // the next tiles have arrived, and every warp is done with these
  }
  // [loop]
  store_outputs<T>(of_warp, softmax, tile_q + first_row * T::kRowBytes, o + at.q_start, first, s);
#endif
}
// [mma]

// --- On the host ---

/// For d of at most 64, and of at most 128.
template <bool WholeRows>
using NarrowMma = MmaTiles<64, 2, 4, 64, 2, true, WholeRows>;
template <bool WholeRows>
using WideMma = MmaTiles<128, 2, 4, 64, 2, false, WholeRows>;
constexpr int kMmaQueries = 128, kMmaKeys = 64;

/// Calls run(tiles) with the tiles for that d. `aligned`: q, k and v start at multiples of 16 bytes.
template <class Run>
void with_mma_tiles(int d, bool aligned, const Run& run) {
  if (d == 64 && aligned) return run(NarrowMma<true>());
  if (d == 128 && aligned) return run(WideMma<true>());
  d <= 64 ? run(NarrowMma<false>()) : run(WideMma<false>());
}

template <class Mask>
struct MmaFlash {
  static void run(const Data& data) {
    const auto a = operands<BFloat16>(data);
    with_mma_tiles(data.shape.dims[4], are_aligned(a.q, a.k, a.v),
                   [&](auto tiles) { launch_with<decltype(tiles)>(data); });
  }
  static Traffic traffic(const Shape& s) { return half_flash_traffic<Mask>(s, kMmaQueries, kMmaKeys); }
  static bool suits(const Shape& s) { return rows_fit(s); }

 private:
  template <class T>
  static void launch_with(const Data& data) {
    static_assert(T::kQueries == kMmaQueries && T::kKeys == kMmaKeys);
    const auto a = operands<BFloat16>(data);
    launch_shared(
        flash_by_mma<T, Mask>,
        static_cast<unsigned>(a.sizes.heads) * static_cast<unsigned>(ceil_div(a.sizes.queries, T::kQueries)),
        T::kThreads, T::kSharedBytes, a.q, a.k, a.v, data[kHalfO<Mask>], a.sizes, a.scale);
  }
};
#endif

struct Mma {
  static constexpr Stage row =
      kByMma<Full>.with({.name = "12_mma", .idea = "bfloat16 by mma.sync: the weights stay in registers"});
#ifdef WORKBOOK_GPU
  using Runs = MmaFlash<Full>;
#endif
};

struct MmaCausal {
  static constexpr Stage row = kByMma<Causal>.with(
      {.name = "12_causal", .idea = "the same with a causal mask", .against = "09_masked"});
#ifdef WORKBOOK_GPU
  using Runs = MmaFlash<Causal>;
#endif
};

}  // namespace DEVICE::attention
