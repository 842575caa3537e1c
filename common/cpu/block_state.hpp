/// \file
/// The device's state of the running block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/async_copies.hpp"
#include "cpu/iterations.hpp"
#include "cpu/lanes.hpp"
#include "cpu/race_check.hpp"
#include "cpu/region.hpp"
#include "cpu/request_log.hpp"
#include "cpu/runtime.hpp"
#include "cpu/shared_memory.hpp"
#include "cpu/shared_shadow.hpp"
#include "cpu/sites.hpp"
#include "cpu/steps.hpp"
#include "cpu/trace.hpp"
#include "cpu/traffic_counter.hpp"

namespace cpu {

struct RunningThread {
  uint3 index{};        ///< threadIdx
  unsigned number = 0;  ///< in its block, linear
  unsigned lane = 0;
  LaneFlow* flow = nullptr;  ///< its fiber's
};

struct BlockState {
  BlockState(LaunchState& launch, workbook::Counts& counts, SiteLog& site_log)
      : races(launch), traffic(counts), log(traffic, site_log, iterations) {}

  uint3 index{};           ///< blockIdx
  std::size_t number = 0;  ///< in the grid, linear
  RunningThread thread;
  Region stack;                       ///< of the running thread: its local variables
  std::uintptr_t last_barrier = 0;    ///< instruction of the barrier that the block passed last, or 0
  unsigned ended_before_barrier = 0;  ///< threads that it was passed without, because they had ended
  Iterations iterations{reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc)};
  Steps steps;

  SharedMemory shared_memory;
  SharedShadow shared_shadow;
  AsyncCopies copies;
  RaceCheck races;

  Sites sites;
  TrafficCounter traffic;
  RequestLog log;
};

}  // namespace cpu
