#include "cpu_device/running/launch.hpp"

#include <algorithm>
#include <memory>

#include "cpu_device/access.hpp"
#include "cpu_device/coordinates.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/launch_limits.hpp"
#include "cpu_device/lanes.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/segments.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/program_image/symbols.hpp"
#include "cpu_device/running/cooperative.hpp"
#include "cpu_device/running/cores.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/gpus.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

void begin_launch(LaunchState& state, const Launch& launch) {
  static_cast<Launch&>(state) = launch;
  state.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  if (Gpus* const gpus = device().gpus) {
    state.first_block = gpus->launches().add(device().gpu, launch.grid, launch.block, device().sites);
    state.numbers_per_block = kThreadNumbersOfBlock;
  } else {
    ++state.number;
    state.first_block = 0;
    state.numbers_per_block = state.threads_per_block;
  }
  state.arena = memory().arena();
  state.variables = memory().adopted();
  state.host_arrays = memory().host_arrays();
}

/// Prepares the state of the running block.
void begin_launch(Device& d, const Program& parts) {
  d.steps.begin_launch();
  d.sites.begin_launch();
  d.shared_memory.begin_launch(parts.thread_locals, d.launch.shared_bytes);
  if (d.gpus)
    d.races.begin_launch(d.gpus->launches(), d.gpus->launches().is_first_of(d.gpu));
  else
    d.races.begin_launch();
  d.shared_shadow.resize(d.shared_memory.bytes());
  d.copies.resize(d.shared_memory.bytes());
  d.iterations.begin_launch(reinterpret_cast<std::uintptr_t>(d.launch.kernel));
}

void run_grid() {
  Device& d = device();
  const std::size_t blocks = d.launch.blocks();
  const long long accesses_before = d.counts.accesses;
  const Memory::Access open(memory(), true);
  grid_runs = true;
  try {
    if (d.launch.cooperative) {
      run_together();
    } else {
      run_block(0);
      if (!run_on_cores(1, d.counts.accesses - accesses_before))
        for (std::size_t block = 1; block < blocks; ++block) run_block(block);
    }
  } catch (...) {
    abandon_launch();
    throw;
  }
  grid_runs = false;
}

/// Passes the launch's counts to whoever wants those of each launch.
void report(Device& d, bool ended_early) {
  if (!d.each_launch) return;
  const auto extent = [](const uint3& size) { return workbook::Dim3{size.x, size.y, size.z}; };
  workbook::LaunchCounts launch = {.kernel = function_at(d.launch.kernel).instance,
                                   .grid = extent(d.launch.grid),
                                   .block = extent(d.launch.block),
                                   .counts = d.counts,
                                   .requests = {},
                                   .sites = {},
                                   .warps = {},
                                   .ended_early = ended_early};
  d.site_log.take(launch);
  d.each_launch(launch);
  d.counts = {};
}

/// Counts the requests that the warps of the running block have begun.
void count_open_requests(Device& d) {
  RequestLog& log = d.log;
  d.site_log.set_unfinished();
  log.end_segment();
  for (const unsigned warp : log.paused_warps()) {
    d.thread.number = warp * kWarpSize;
    log.resume(warp);
    log.end_segment();
  }
}

/// Says of the launch, and of its instructions, which counts are estimates.
void mark_estimates(Device& d) {
  d.counts.approximate |= d.iterations.is_lost();
  d.counts.shared_loads_may_merge |= d.sites.shared_loads_may_merge();
  if (!d.site_log.is_on()) return;
  if (d.iterations.is_lost()) d.site_log.set_all_approximate();
  if (d.counts.shared_loads_may_merge) d.site_log.set_mergeable(d.sites.mergeable_shared_loads());
}

}  // namespace

void begin_blocks(const LaunchState& launch) {
  Device& d = device();
  const Program parts = program();
  d.launch = launch;
  d.launch.constants = parts.constants;
  d.launch.constants.push_back({reinterpret_cast<std::uintptr_t>(launch.closure), launch.closure_bytes});
  if (!d.scheduler) d.scheduler = std::make_shared<Scheduler>();
  d.launch.stacks = d.scheduler->stacks();
  begin_launch(d, parts);
}

void set_block(std::size_t number) {
  Device& d = device();
  const uint3& grid = d.launch.grid;
  d.block.index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                   static_cast<unsigned>(number / grid.x / grid.y)};
  d.block.number = number;
  d.traffic.compare_shared_loads(number == 0);  // the first block stands for all
  d.races.begin_block(number);
}

bool run_block(std::size_t number) {
  Device& d = device();
  const unsigned threads = d.launch.threads_per_block;
  const long long accesses_before = d.counts.accesses;
  set_block(number);
  d.block.last_barrier = 0;
  d.block.ended_before_barrier = 0;
  d.steps.begin_block();
  d.shared_shadow.begin_block();
  d.copies.begin_block(threads);
  const bool ended = scheduler().run_block(threads);
  d.races.end_block();
  d.counts.accesses_of_busiest_block =
      std::max(d.counts.accesses_of_busiest_block, d.counts.accesses - accesses_before);
  return ended;
}

void abandon_block() {
  device().log.abandon();
  if (device().scheduler) device().scheduler->abandon();
}

void abandon_launch() {
  Device& d = device();
  grid_runs = false;
  if (d.site_log.is_on()) {  // what there is so far
    count_open_requests(d);
    mark_estimates(d);
    report(d, true);
  }
  d.counts = d.launch.counted_before;
  abandon_block();
}

void run(const Launch& launch) {
  refuse_in_kernel(
      "launches a kernel", CALLER,
      "a kernel cannot start another one here: host code launches one after the other, and a helper "
      "that a kernel needs is a __device__ function");
  check_launch(launch);
  Device& d = device();
  begin_launch(d.launch, launch);
  d.launch.counted_before = d.counts;
  d.counts.accesses_of_busiest_block = 0;
  begin_blocks(d.launch);
  d.order_needed = d.gpus != nullptr;
  if (!d.gpus) memory().clear_cold_caches();
  run_grid();
  memory().note_writes();
  d.gpus ? memory().take_compulsory(d.counts, d.gpu) : memory().count_compulsory(d.counts);
  mark_estimates(d);
  d.counts.accesses_of_busiest_blocks += d.counts.accesses_of_busiest_block;
  ++d.counts.kernels;
  d.counts.threads += static_cast<long long>(d.launch.blocks() * d.launch.threads_per_block);
  report(d, false);
}

}  // namespace cpu
