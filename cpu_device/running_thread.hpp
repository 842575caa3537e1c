/// \file
/// Who runs: the launch, the block and the thread that the calling operating-system thread works for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu_device/counts.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/gpu_launches.hpp"
#include "cpu_device/region.hpp"

namespace cpu {

struct LaneFlow;

constexpr std::size_t kStackBytes = 64 * 1024;  ///< of a thread, or a little more

/// What all blocks of the running launch share.
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

struct RunningBlock {
  uint3 index{};                      ///< blockIdx
  std::size_t number = 0;             ///< in the grid, linear
  std::uintptr_t last_barrier = 0;    ///< instruction of the barrier that the block passed last, or 0
  unsigned ended_before_barrier = 0;  ///< threads that it was passed without, because they had ended
};

struct RunningThread {
  uint3 index{};        ///< threadIdx
  unsigned number = 0;  ///< in its block, linear
  unsigned lane = 0;
  LaneFlow* flow = nullptr;  ///< its fiber's
};

struct Running {
  LaunchState launch{};
  RunningBlock block;
  RunningThread thread;
  Region stack;  ///< of the running thread: its local variables
  /// 0, or the number of the worker that runs a part of the grid (cores.hpp).
  unsigned worker = 0;
  unsigned gpu = 0;  ///< which one this is, or is in place of
  /// Where several GPUs run: what they have launched. Else null.
  const GpuLaunches* gpu_launches = nullptr;
  /// A block of the launch has done something whose result may depend on the order of the blocks.
  bool order_needed = false;
};

/// Whether a grid runs, and the calling operating-system thread runs blocks of it. Other accesses are host
/// code's: some are made before main, some by threads that host code has started.
extern constinit thread_local bool grid_runs;

/// What the calling thread runs: the first part of its Device. `constinit`, so that no access has to test
/// whether it is set. Its alignment is that of the whole thread-local segment: `__shared__` arrays have the
/// same banks and lines in every thread.
alignas(128) extern constinit thread_local Running* the_running;
inline Running& running() { return *the_running; }

/// Ends a worker's part of a grid.
struct PartStopped {};

/// The running block is about to do something whose result may depend on the order of the blocks: they must
/// run one after another. In a worker it does not return (cores.cpp).
void need_block_order();

/// Where a thread of the running block waits for the others: the instruction of the barrier. 0 when none does
/// (scheduler.cpp).
std::uintptr_t waiting_at();

}  // namespace cpu
