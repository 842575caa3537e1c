/// \file
/// The inside of the CPU device: the running launch, its running block, and what they have counted. Each
/// operating-system thread that runs blocks has one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cpu/block_state.hpp"
#include "cpu/counts.hpp"
#include "cpu/launch_state.hpp"
#include "cpu/site_log.hpp"

namespace cpu {

class Gpus;
class Scheduler;

struct Device {
  workbook::Counts counts;
  /// Receives the counts of each launch, which then start again from 0.
  std::function<void(const workbook::LaunchCounts&)> each_launch;
  SiteLog site_log;

  LaunchState launch{};
  BlockState block{launch, counts, site_log};
  std::shared_ptr<Scheduler> scheduler;  ///< made for the first launch

  /// The text that kernels have printed.
  struct Printed {
    std::size_t bytes = 0;
    std::uint32_t launch = 0;  ///< that printed last
    std::size_t calls = 0;     ///< of printf, in that launch
  } printed;

  /// 0, or the number of the worker that runs a part of the grid (cores.hpp).
  unsigned worker = 0;
  Gpus* gpus = nullptr;  ///< where several GPUs run (gpus.hpp): all of them
  unsigned gpu = 0;      ///< which one this is, or is in place of
  /// A block of the launch has done something whose result may depend on the order of the blocks.
  bool order_needed = false;
};

/// Whether a grid runs, and the calling operating-system thread runs blocks of it. Other accesses are host
/// code's: some are made before main, some by threads that host code has started.
extern constinit thread_local bool grid_runs;

/// The calling thread's device. `constinit`, so that no access has to test whether it is set. Its alignment
/// is that of the whole thread-local segment: `__shared__` arrays have the same banks and lines in every
/// thread.
alignas(128) extern constinit thread_local Device* the_device;
inline Device& device() { return *the_device; }

}  // namespace cpu
