/// \file
/// Stage 5: a larger tile, 128 x 256, and two consumers, each with half of its rows. A pipeline stage has
/// 1.5 times the bytes and gives twice the products, and while one warpgroup waits, the other one multiplies.
/// The kernel is that of stage 4. A thread still has 128 accumulators: the tile and the number of threads
/// double.
#pragma once
#include "04_producer.sm90a.cuh"

namespace DEVICE::tensor_cores {

// --- On the host ---

struct TwoGroups {
  static constexpr Stage row =
      kProductOnHopper.with({.name = "05_two_groups", .idea = "tiles of 128 x 256, two consumer warpgroups"});
#ifdef WORKBOOK_GPU
  using Runs = WithProducer<2, Pipeline128x256>;
#endif
};

}  // namespace DEVICE::tensor_cores
