/// \file
/// Stage 15: Hopper's own tensor instruction, wgmma. Four warps multiply 64 x 128 x 16 elements that lie in
/// shared memory, and nothing goes through registers but the sums. One thread has the TMA copy whole tiles
/// into a ring, swizzled on the way: no thread computes an address of an element.
#pragma once
#include "hopper.sm90a.cuh"

namespace DEVICE::linear_gelu {

using Ring15 = Ring<128, 128, 4>;

/// product = x * w^T in bfloat16, matrices as in stage 14, k and n multiples of 8: `in` is made for Ring15. A
/// block of one warpgroup, with kSharedBytes<Ring15>, per tile of 128 x 128. Asked of the L2 cache: half the
/// bytes of stage 7.
__global__ void __launch_bounds__(128)
    product_by_wgmma(const __grid_constant__ Inputs in, __nv_bfloat16* product, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& ring = in_shared_memory<Ring15>();
  const Place place = place_of(blockIdx.x, m, n, Ring15::kRows, Ring15::kColumns);
  const int steps = pieces(k, kMmaDepth);
  if (threadIdx.x == 0) ring.make_barriers(1);
  __syncthreads();
  const auto fetch = [&](int step) {
    if (threadIdx.x != 0 || step >= steps) return;
    const int slot = step % Ring15::kSlots;
    arrive_announcing(&ring.full[slot], Ring15::kSlotBytes);
    load_tile(ring.x[slot], &in.x, place.row, step * kMmaDepth, &ring.full[slot]);
    load_tile(ring.w[slot], &in.w, place.column, step * kMmaDepth, &ring.full[slot]);
  };

  for (int step = 0; step < Ring15::kSlots; ++step) fetch(step);
  float sum[2][64] = {};
  Turn<Ring15::kSlots> turn;
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.slot], turn.parity);
    multiply_tiles(sum, ring.x[turn.slot], ring.w[turn.slot]);
    wait_for_products<0>();
    __syncthreads();  // all four warps are done with the slot
    fetch(step + Ring15::kSlots);
  }
  store_sums(sum, product, place.row, place.column, m, n);
#endif
}

}  // namespace DEVICE::linear_gelu
