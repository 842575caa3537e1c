/// \file
/// What all blocks of the running launch share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/counts.hpp"
#include "cpu/region.hpp"
#include "cpu/runtime.hpp"

namespace cpu {

struct LaunchState : Launch {
  std::uint32_t number = 0;  ///< launches so far, this one included
  std::uint32_t threads_per_block = 0;
  /// Where several GPUs run (gpus.hpp): the number of the grid's first block, and how many numbers of threads
  /// a block takes. Else 0, and as many as it has.
  std::uint32_t first_block = 0, numbers_per_block = 0;
  workbook::Counts counted_before;  ///< by earlier launches: what is left when this one is ended early
  Region arena, variables, stacks;
  std::vector<Region> host_arrays;  ///< pages of the host's that are registered
  std::vector<Region> constants;    ///< what a kernel can read but not write

  /// Whether an address is one of device memory, or near an array of it.
  bool is_global(std::uintptr_t address) const {
    return arena.contains(address) || variables.contains(address) || is_in(host_arrays, address);
  }
  std::size_t blocks() const { return std::size_t{grid.x} * grid.y * grid.z; }
  bool is_constant(std::uintptr_t address) const { return is_in(constants, address); }
  static bool is_in(const std::vector<Region>& regions, std::uintptr_t address) {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const Region& region) { return region.contains(address); });
  }
};

}  // namespace cpu
