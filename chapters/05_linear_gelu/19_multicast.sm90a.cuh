/// \file
/// Stage 19: two blocks in a cluster have tiles one below the other, and want the same of w. Each has the TMA
/// copy half of it, to both: of the bytes asked of L2 a third is saved. A slot is empty when both blocks have
/// read it.
#pragma once
#include <cooperative_groups.h>

#include "18_persistent.sm90a.cuh"

namespace DEVICE::linear_gelu {

/// As Release, in both blocks.
struct ReleaseInBoth {
  __device__ void operator()(Barrier* empty) const {
    if (threadIdx.x % 32 < 2) arrive_in_block(empty, threadIdx.x % 32);
  }
};

/// Where a pair of tiles begins, and how many pairs there are.
__device__ inline Place pair_of(int number, int m, int n) {
  return place_of(number, m, n, 2 * Ring17::kRows, Ring17::kColumns);
}
__host__ __device__ inline int pairs_of(int m, int n) {
  return tiles_of(m, n, 2 * Ring17::kRows, Ring17::kColumns);
}

/// As produce(), for steps `first` to `last` of a pair of tiles of which `rank` is this block's.
__device__ inline void produce_for_both(Ring17& ring, Turn<Ring17::kSlots>& turn, const Inputs& in,
                                        Place pair, int rank, int first, int last) {
  constexpr int kHalf = Ring17::kColumns / 2;
  for (int step = first; step < last; ++step, turn.next()) {
    const int slot = turn.slot, column = step * kMmaDepth;
    wait(&ring.empty[slot], turn.parity ^ 1);
    arrive_announcing(&ring.full[slot], Ring17::kSlotBytes);
    load_tile(ring.x[slot], &in.x, pair.row + rank * Ring17::kRows, column, &ring.full[slot]);
    load_tile_for(0b11, ring.w[slot] + rank * kHalf * kMmaDepth, &in.w, pair.column + rank * kHalf, column,
                  &ring.full[slot]);
  }
}

/// What the producer's warp does for all pairs of its cluster: produce_for_both(), by one thread.
__device__ inline void produce_pairs(Ring17& ring, Turn<Ring17::kSlots>& turn, const Inputs& in, int m, int n,
                                     int rank, int steps) {
  const int pairs = pairs_of(m, n);
  for (int i = blockIdx.x / 2; i < pairs && threadIdx.x % 32 == 0; i += gridDim.x / 2)
    produce_for_both(ring, turn, in, pair_of(i, m, n), rank, 0, steps);
}

/// product = x * w^T as in stage 18, but `in.w` is made for tiles of half as many columns, and the grid is
/// even.
__global__ void __launch_bounds__(kThreadsWith<2>) __cluster_dims__(2)
    product_multicast(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& ring = in_shared_memory<Ring17>();
  const int steps = pieces(k, kMmaDepth), group = warpgroup(), rank = blockIdx.x % 2;
  const int pairs = pairs_of(m, n);
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) ring.make_barriers(2 * 2 * 4);
  cluster.sync();
  Turn<Ring17::kSlots> turn;
  if (group == 2) {
    produce_pairs(ring, turn, in, m, n, rank, steps);
  } else {
    for (int i = blockIdx.x / 2; i < pairs; i += gridDim.x / 2) {
      const Place pair = pair_of(i, m, n);
      float sum[1][128] = {};
      consume(ring, turn, sum, group * 64, steps, ReleaseInBoth{});
      store_sums(sum, product, pair.row + rank * Ring17::kRows + group * 64, pair.column, m, n);
    }
  }
  cluster.sync();  // no block leaves while the other one may copy to it
#endif
}

}  // namespace DEVICE::linear_gelu
