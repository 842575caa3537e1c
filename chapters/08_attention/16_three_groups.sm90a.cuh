/// \file
/// Stage 16: more consumers with fewer keys each. Three warpgroups (four, where d is at most 64) hide each
/// other's waits better than two, and tiles of 64 keys leave registers for them.
#pragma once
#include "15_overlap.sm90a.cuh"

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [group tiles]
// The numbers: largest d, consumers, keys of a tile, stages. The two rules of a causal mask are own_steps()
// and first_query() in wgmma_tiles.sm90a.cuh.
using NarrowGroups = WgmmaTiles<64, 4, 64, 4>;
using WideGroups = WgmmaTiles<128, 3, 64, 4>;
// [group tiles]

#endif

// --- On the host ---

struct Groups {
  static constexpr Stage row =
      kOnHopper<Full>.with({.name = "16_three_groups", .idea = "more warpgroups, with 64 keys at a time"});
#ifdef WORKBOOK_GPU
  using Runs = WgmmaFlash<NarrowGroups, WideGroups, Full, Overlapped>;
#endif
};

struct GroupsCausal {
  static constexpr Stage row = kOnHopper<Causal>.with(
      {.name = "16_causal", .idea = "the same with a causal mask", .against = "09_masked"});
#ifdef WORKBOOK_GPU
  using Runs = WgmmaFlash<NarrowGroups, WideGroups, Causal, Overlapped>;
#endif
};

}  // namespace DEVICE::attention
