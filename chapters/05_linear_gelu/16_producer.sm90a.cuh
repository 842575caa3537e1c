/// \file
/// Stage 16: a warp of its own, the producer, fills the ring; the warpgroup, the consumer, only multiplies.
/// They meet at two barriers a slot, "full" and "empty", and at no __syncthreads().
#pragma once
#include "15_wgmma.sm90a.cuh"

namespace DEVICE::linear_gelu {

/// Of a block with so many consumers and a producer.
template <int Groups>
constexpr int kThreadsWith = Groups * 128 + 32;

/// What the one thread of the producer does for a tile: fills a slot whenever one is empty.
template <class R>
__device__ void produce(R& ring, Turn<R::kSlots>& turn, const Inputs& in, Place place, int steps) {
  for (int step = 0; step < steps; ++step, turn.next()) {
    Barrier* full = &ring.full[turn.slot];
    wait(&ring.empty[turn.slot], turn.parity ^ 1);
    arrive_announcing(full, R::kSlotBytes);
    load_tile(ring.x[turn.slot], &in.x, place.row, step * kMmaDepth, full);
    load_tile(ring.w[turn.slot], &in.w, place.column, step * kMmaDepth, full);
  }
}

/// A lane of each warp says that the warp has read a slot.
struct Release {
  __device__ void operator()(Barrier* empty) const {
    if (threadIdx.x % 32 == 0) arrive(empty);
  }
};

/// What a warpgroup does for a tile: sum += x * w^T, for the rows of x from `first_row` of each slot on, and
/// release(empty) when a slot has been read.
template <class R, int Squares, int Sums, class Releasing>
__device__ void consume(R& ring, Turn<R::kSlots>& turn, float (&sum)[Squares][Sums], int first_row, int steps,
                        Releasing release) {
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.slot], turn.parity);
    multiply_tiles(sum, ring.x[turn.slot] + first_row * kMmaDepth, ring.w[turn.slot]);
    wait_for_products<0>();
    release(&ring.empty[turn.slot]);
  }
}

/// product = x * w^T as in stage 15. A block of `Groups` warpgroups, which share the rows, and one warp more,
/// with kSharedBytes<R>, per tile of R::kRows x R::kColumns.
template <int Groups, class R>
__global__ void __launch_bounds__(kThreadsWith<Groups>)
    product_with_producer(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kRowsEach = R::kRows / Groups;
  R& ring = in_shared_memory<R>();
  const Place place = place_of(blockIdx.x, m, n, R::kRows, R::kColumns);
  const int steps = pieces(k, kMmaDepth), group = warpgroup();
  if (threadIdx.x == 0) ring.make_barriers(Groups * 4);
  __syncthreads();
  Turn<R::kSlots> turn;
  if (group == Groups) {
    if (threadIdx.x % 32 == 0) produce(ring, turn, in, place, steps);
  } else {
    float sum[kRowsEach / 64][R::kColumns / 2] = {};
    consume(ring, turn, sum, group * kRowsEach, steps, Release{});
    store_sums(sum, product, place.row + group * kRowsEach, place.column, m, n);
  }
#endif
}

using Ring16 = Ring<128, 128, 4>;

}  // namespace DEVICE::linear_gelu
