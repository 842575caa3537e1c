/// \file
/// The inside of the CPU device: the running launch, its running block, and what they have counted. Each
/// operating-system thread that runs blocks has one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cpu_device/counting/iterations.hpp"
#include "cpu_device/counting/request_log.hpp"
#include "cpu_device/counting/site_log.hpp"
#include "cpu_device/counting/traffic_counter.hpp"
#include "cpu_device/counts.hpp"
#include "cpu_device/memory/access_sites.hpp"
#include "cpu_device/memory/async_copies.hpp"
#include "cpu_device/memory/shared_memory.hpp"
#include "cpu_device/memory/shared_shadow.hpp"
#include "cpu_device/races/race_check.hpp"
#include "cpu_device/running/step_budget.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {

class Gpus;
class Scheduler;

struct Device : Running {
  workbook::Counts counts;
  /// Receives the counts of each launch, which then start again from 0.
  std::function<void(const workbook::LaunchCounts&)> each_launch;
  SiteLog site_log;
  std::shared_ptr<Scheduler> scheduler;  ///< made for the first launch
  Gpus* gpus = nullptr;                  ///< where several GPUs run (gpus.hpp): all of them

  /// The text that kernels have printed.
  struct Printed {
    std::size_t bytes = 0;
    std::uint32_t launch = 0;  ///< that printed last
    std::size_t calls = 0;     ///< of printf, in that launch
  } printed;

  // The state of the running block:
  Iterations iterations;
  StepBudget steps;
  SharedMemory shared_memory;
  SharedShadow shared_shadow;
  AsyncCopies copies;
  Sites sites;
  RaceCheck races{launch, shared_shadow, sites};
  TrafficCounter traffic{counts};
  RequestLog log{traffic, site_log, iterations};
};

/// The calling thread's device.
inline Device& device() { return static_cast<Device&>(running()); }

}  // namespace cpu
