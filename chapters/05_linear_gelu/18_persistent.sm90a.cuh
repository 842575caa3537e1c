/// \file
/// Stage 18: as many blocks as there are multiprocessors, each of which goes from tile to tile. The producer
/// goes ahead: the ring is full of the next tile while the consumers write this one.
#pragma once
#include "17_two_groups.sm90a.cuh"

namespace DEVICE::linear_gelu {

/// product = x * w^T as in stage 15. A grid of up to as many blocks as run at a time, of two warpgroups and a
/// warp each, with kSharedBytes<Ring17>.
__global__ void __launch_bounds__(kThreadsWith<2>)
    product_persistent(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& ring = in_shared_memory<Ring17>();
  const int steps = pieces(k, kMmaDepth), group = warpgroup();
  const int tiles = tiles_of(m, n, Ring17::kRows, Ring17::kColumns);
  if (threadIdx.x == 0) ring.make_barriers(2 * 4);
  __syncthreads();
  Turn<Ring17::kSlots> turn;
  if (group == 2) {
    for (int tile = blockIdx.x; tile < tiles && threadIdx.x % 32 == 0; tile += gridDim.x)
      produce(ring, turn, in, place_of(tile, m, n, Ring17::kRows, Ring17::kColumns), steps);
    return;
  }
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place = place_of(tile, m, n, Ring17::kRows, Ring17::kColumns);
    float sum[1][128] = {};
    consume(ring, turn, sum, group * 64, steps, Release{});
    store_sums(sum, product, place.row + group * 64, place.column, m, n);
  }
#endif
}

}  // namespace DEVICE::linear_gelu
