/// \file
/// Stage 21: an epilogue behind which the tensor cores go on. In stage 20 both warpgroups compute GELU at the
/// same time, and nothing is multiplied. Here each has a tile of its own, and they take turns: one
/// multiplies, the other finishes.
#pragma once
#include "20_tma_epilogue.sm90a.cuh"

namespace DEVICE::linear_gelu {

using Ring21 = Ring<128, 128, 6>;

struct Shared21 {
  Ring21 ring;
  alignas(kTileAlignment) Staged staged[8];
  Barrier may_multiply[2];
};

/// y = gelu(x * w^T + bias) in bfloat16, blocks and grid as in stage 18, with kSharedBytes<Shared21>.
template <class Gelu>
__global__ void __launch_bounds__(kThreadsWith<2>)
    linear_by_turns(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y,
                    const float* bias, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& [ring, staged, may_multiply] = in_shared_memory<Shared21>();
  const int steps = pieces(k, kMmaDepth), group = warpgroup();
  const int tiles = tiles_of(m, n, Ring21::kRows, Ring21::kColumns);
  if (threadIdx.x == 0) {
    make_barrier(&may_multiply[0], 4);
    make_barrier(&may_multiply[1], 4);
    ring.make_barriers(4);
  }
  __syncthreads();
  if (group == 2) {
    Turn<Ring21::kSlots> turn;
    for (int tile = blockIdx.x; tile < tiles && threadIdx.x % 32 == 0; tile += gridDim.x)
      produce(ring, turn, in, place_of(tile, m, n, Ring21::kRows, Ring21::kColumns), steps);
    return;
  }

  // The tiles of this block are numbered i: even ones are group 0's. Their steps follow each other in the
  // ring.
  int i = group;
  for (int tile = blockIdx.x + group * gridDim.x; tile < tiles; tile += 2 * gridDim.x, i += 2) {
    const Place place = place_of(tile, m, n, Ring21::kRows, Ring21::kColumns);
    const unsigned before = static_cast<unsigned>(i) * steps;
    Turn<Ring21::kSlots> turn = {static_cast<int>(before % Ring21::kSlots),
                                 static_cast<int>(before / Ring21::kSlots % 2)};
    float sum[2][64];
    begin_with_bias(sum, bias, place.column, n);
    wait(&may_multiply[group], (i / 2 + 1 - group) % 2);  // the other group is done with tile i - 1
    Barrier* last_empty = nullptr;
    for (int step = 0; step < steps; ++step, turn.next()) {
      wait(&ring.full[turn.slot], turn.parity);
      multiply_tiles(sum, ring.x[turn.slot], ring.w[turn.slot]);
      wait_for_products<1>();  // no one else multiplies: the next step must be there when this one ends
      if (step > 0) Release{}(last_empty);
      last_empty = &ring.empty[turn.slot];
    }
    Release{}(&may_multiply[1 - group]);
    wait_for_products<0>();
    Release{}(last_empty);
    store_by_tma(sum, Gelu{}, staged[threadIdx.x / 32], &y, place.row, place.column);
  }
  wait_for_stores();  // what is staged must stay until it has been read
#endif
}

}  // namespace DEVICE::linear_gelu
