/// \file
/// The launches of several GPUs that run at the same time: their blocks and threads have numbers that no two
/// of them share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "cpu_device/dialect/runtime.hpp"

namespace cpu {

/// Numbers that a block's threads have, whether it has so many threads or not, where several GPUs run.
constexpr std::uint32_t kThreadNumbersOfBlock = 1024;

class Sites;

struct GpuLaunch {
  std::uint32_t first_block;  ///< its blocks have the numbers from here on
  unsigned gpu;
  uint3 grid, block;
  const Sites* sites;  ///< the instructions of the GPU's last launch
};

class GpuLaunches {
 public:
  /// The GPU launches so many blocks next. Returns the number of the first of them.
  std::uint32_t add(unsigned gpu, const uint3& grid, const uint3& block, const Sites& sites) {
    const std::uint32_t first = next_block_;
    launches_.push_back({first, gpu, grid, block, &sites});
    next_block_ += grid.x * grid.y * grid.z;
    return first;
  }
  /// Whether the GPU has launched one grid so far.
  bool is_first_of(unsigned gpu) const {
    return std::count_if(launches_.begin(), launches_.end(),
                         [&](const GpuLaunch& launch) { return launch.gpu == gpu; }) == 1;
  }
  /// Whether the GPU has launched none after it.
  bool is_last(const GpuLaunch& launch) const {
    return std::none_of(&launch + 1, launches_.data() + launches_.size(),
                        [&](const GpuLaunch& later) { return later.gpu == launch.gpu; });
  }
  /// The launch that the block with that number belongs to.
  const GpuLaunch& of_block(std::uint32_t block) const {
    const auto after =
        std::upper_bound(launches_.begin(), launches_.end(), block,
                         [](std::uint32_t b, const GpuLaunch& l) { return b < l.first_block; });
    return *std::prev(after);
  }
  const GpuLaunch& of_thread(std::uint32_t thread) const { return of_block(thread / kThreadNumbersOfBlock); }

  /// Whether all that one block has done happened before the other began, since they are of launches that a
  /// GPU runs one after the other.
  bool before(std::uint32_t block, std::uint32_t later) const {
    const GpuLaunch &one = of_block(block), &other = of_block(later);
    return one.gpu == other.gpu && one.first_block < other.first_block;
  }

 private:
  std::vector<GpuLaunch> launches_;  // by first_block
  std::uint32_t next_block_ = 0;
};

}  // namespace cpu
