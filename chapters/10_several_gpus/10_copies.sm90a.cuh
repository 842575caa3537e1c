/// \file
/// Stage 10: stage 9 without waiting for NVLink. All blocks finish their first tiles at about the same time,
/// and the stores of stage 9 keep the warps that should multiply until the link has taken them. Here a warp
/// leaves its part of a tile in shared memory, and has it copied while it multiplies the next tile. The flag
/// is set when that one is finished, too: the copy is complete by then. A whole tile in shared memory takes
/// the place of one of four stages of the pipeline.
#pragma once
#include "09_tiles.sm90a.cuh"

namespace DEVICE::several_gpus {

#ifdef WORKBOOK_GPU
/// As SendByStores.
struct SendByCopies {
  using P = tensor_cores::Pipeline<128, 256, 3>;
  struct Storage {
    P pipeline;
    alignas(kTileAlignment) tensor_cores::StagingBuffer staging[8];
    uint4 sent[8][kPiecesOfWarp];
  };

  uint4* sent;
  unsigned* to_set = nullptr;  // in lane 0, the flag of what is being copied

  __device__ explicit SendByCopies(Storage& storage) : sent(storage.sent[threadIdx.x / 32]) {}
  // [send]
  __device__ void send(const float (&acc)[1][128], uint4* there, unsigned* arrived) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kSteps; ++j) sent[j * 32 + lane] = rounded_piece(&acc[0][8 * j]);
    fence_proxy_async();
    __syncwarp();
    if (lane != 0) return;
    bulk_store(there, sent, kPiecesOfWarp * int{sizeof(uint4)});
    to_set = arrived;
  }
  __device__ void finish() {
    if (threadIdx.x % 32 == 0) {
      bulk_store_wait();
      if (to_set) Flag(*to_set).store(1, cuda::std::memory_order_release);
      to_set = nullptr;
    }
    __syncwarp();
  }
  // [send]
};
#endif

// --- On the host ---

struct Copies {
  static constexpr Stage row = kOfLinearOnHopper.with(
      {.name = "10_copies", .idea = "the same, copied to the other GPU while the next is multiplied"});
#ifdef WORKBOOK_GPU
  using Runs = LinearReduced<SendByCopies>;
#endif
};

}  // namespace DEVICE::several_gpus
