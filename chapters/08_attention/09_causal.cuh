/// \file
/// Stage 9: with a causal mask, tiles above the diagonal are not computed at all, and the blocks with the
/// most tiles start first, so that short ones fill the end.
#pragma once
#include "08_exp2.cuh"

namespace DEVICE::attention {

// [visible tiles]
/// The tiles of keys that some query of a tile sees; the last queries, which see most, start first.
struct VisibleTiles {
  /// The last tile of every head, then the one before it of every head, and so on.
  __device__ static int query_tile(Sizes s, int block) {
    const int tiles = ceil_div(s.queries, BM);
    return block % s.heads * tiles + tiles - 1 - block / s.heads;
  }
  /// The last query of a tile sees the most keys; queries past the end do not count.
  __host__ __device__ static int end(Sizes s, int last) {
    return Causal::visible(s, last < s.queries ? last : s.queries - 1);
  }
};
// [visible tiles]

// --- On the host ---

/// Stage 8 with a mask, all tiles computed.
struct Masked {
  static constexpr Stage row =
      kWhole<Causal>.with({.name = "09_masked", .idea = "with a causal mask, all tiles computed"});
  static void run(const Data& data) { launch_flash<LazySoftmax, Causal, EveryTile>(data); }
  static Traffic traffic(const Shape& s) { return flash_traffic(s); }
  static bool suits(const Shape& s) { return rows_fit(s); }
};

struct SkippedTiles {
  static constexpr Stage row = kWhole<Causal>.with({.name = "09_causal",
                                                    .idea = "tiles above the diagonal skipped, longest first",
                                                    .against = "09_masked"});
  static void run(const Data& data) { launch_flash<LazySoftmax, Causal, VisibleTiles>(data); }
  static Traffic traffic(const Shape& s) {
    long long keys = 0;  // read by the blocks of one head
    for (int first = 0; first < s.dims[2]; first += BM) {
      const int end = VisibleTiles::end(sizes(s), first + BM - 1), tiles_end = (end + BN - 1) / BN * BN;
      keys += tiles_end < s.dims[3] ? tiles_end : s.dims[3];
    }
    const long long of_k = 4LL * s.dims[0] * keys * s.dims[4];
    return {q_bytes(s) + 2 * of_k, q_bytes(s), 2 * repeated(of_k, k_bytes(s))};
  }
  static bool suits(const Shape& s) { return rows_fit(s); }
};

}  // namespace DEVICE::attention
