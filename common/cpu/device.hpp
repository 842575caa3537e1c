/// \file
/// The inside of the CPU device: the running launch, its running block, and what they have counted.
#pragma once

#include <functional>

#include "cpu/block_state.hpp"
#include "cpu/counts.hpp"
#include "cpu/launch_state.hpp"
#include "cpu/request_trace.hpp"

namespace cpu {

struct Device {
  workbook::Counts counts;
  /// Receives the counts of each launch, which then start again from 0.
  std::function<void(const workbook::LaunchCounts&)> each_launch;
  RequestTrace trace;

  LaunchState launch{};
  BlockState block{launch, counts, trace};
};

/// Whether a grid runs. Accesses at other times are host code's, some of them before main.
extern bool grid_runs;

/// The one CPU device. A pointer that is set before main: a function's static would cost every access a test.
extern Device* const the_device;
inline Device& device() { return *the_device; }

}  // namespace cpu
