/// \file
/// Stage 7: flash attention in one kernel. A tile of scores is computed, used and forgotten: the matrix of
/// scores never exists. Stages 8 and 9 run this kernel with another softmax, and with a mask.
#pragma once
#include "06_online.cuh"

namespace DEVICE::attention {

// [flash tiles]
/// The tile of q, which stays; one of k, and in the same place one of v; and one of weights: 51 or 85 KiB.
template <int D>
struct FlashTiles {
  TileRow q[D];
  union {
    TileRow k[D];
    float v[BN][D];
  };
  TileRow p[BN];
};
// [flash tiles]

/// All tiles of keys, for all queries.
struct EveryTile {
  /// The number of the block's tile, all tiles of head 0 first.
  __device__ static int query_tile(Sizes, int block) { return block; }
  /// One past the last key that the block reads, where `last` is the last query of its tile.
  __device__ static int end(Sizes s, int) { return s.keys; }
};

/// o[h][i] = the sum over j of softmax(scale * q[h][i] * k[key_head(h)])[j] * v[key_head(h)][j], over the
/// keys that query i sees, where d is at most D. One block of kThreads threads per head and BM queries;
/// `Order` says which, and where its keys end. Traffic: each block reads its queries once and its keys and
/// values once, and writes 4 d bytes per query.
template <int D, class Softmax, class Mask, class Order>
__global__ void __launch_bounds__(kThreads)
    flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
          float* __restrict__ o, Sizes s, float scale) {
  auto& tiles = *dynamic_shared<FlashTiles<D>>();
  const Place at = place_of(s, Order::query_tile(s, blockIdx.x));
  copy_transposed<D>(tiles.q, q + at.q_start, at.first, s.queries, s.d);
  Softmax softmax;
  Output<D> acc = {};
  const int end = Order::end(s, at.first + BM - 1);
  // [loop]
  for (int first_key = 0; first_key < end; first_key += BN) {
    copy_transposed<D>(tiles.k, k + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    float of_thread[TM][TN];
    multiply_q_k<D>(of_thread, tiles.q, tiles.k, at.row, at.column);
    softmax.template absorb<Mask>(of_thread, acc, s, at.first + at.row, first_key + at.column, scale);
    store_transposed(tiles.p, of_thread, at);
    __syncthreads();  // every thread is done with the tile of k
    copy_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    add_weighted_values<D>(acc, tiles.p, tiles.v, at.row, at.column);
    __syncthreads();  // every thread is done with the tiles of v and of the weights
  }
  // [loop]
  float factors[TM];
  softmax.factors(factors);
  store_output<D>(o + at.q_start, acc, factors, at.first + at.row, at.column, s.queries, s.d);
}

// --- On the host ---

template <class Softmax, class Mask, class Order>
void launch_flash(const Data& data) {
  const auto a = operands<float>(data);
  const bool narrow = a.sizes.d <= 64;
  launch_shared(narrow ? flash<64, Softmax, Mask, Order> : flash<128, Softmax, Mask, Order>,
                query_tiles(a.sizes), kThreads, narrow ? sizeof(FlashTiles<64>) : sizeof(FlashTiles<128>),
                a.q, a.k, a.v, data[kO<Mask>], a.sizes, a.scale);
}

/// Each block reads k and v whole.
inline Traffic flash_traffic(const Shape& s) {
  return {q_bytes(s) + 2 * tiled_k_bytes(s), q_bytes(s), 2 * repeated(tiled_k_bytes(s), k_bytes(s))};
}

struct Flash {
  static constexpr Stage row =
      kWhole<Full>.with({.name = "07_flash", .idea = "flash attention: no matrix of scores at all"});
  static void run(const Data& data) { launch_flash<OnlineSoftmax, Full, EveryTile>(data); }
  static Traffic traffic(const Shape& s) { return flash_traffic(s); }
  static bool suits(const Shape& s) { return rows_fit(s); }
};

}  // namespace DEVICE::attention
