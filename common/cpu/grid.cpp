#include "cpu/grid.hpp"

#include <algorithm>
#include <memory>

#include "cpu/access.hpp"
#include "cpu/cooperative.hpp"
#include "cpu/coordinates.hpp"
#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/execution_space.hpp"
#include "cpu/gpus.hpp"
#include "cpu/host_calls.hpp"
#include "cpu/lanes.hpp"
#include "cpu/launch_limits.hpp"
#include "cpu/memory.hpp"
#include "cpu/program.hpp"
#include "cpu/scheduler.hpp"
#include "cpu/source_line.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

void begin_launch(LaunchState& state, const Launch& launch) {
  static_cast<Launch&>(state) = launch;
  state.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  if (Gpus* const gpus = device().gpus) {
    state.first_block = gpus->launches().add(device().gpu, launch.grid, launch.block);
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

void begin_launch(BlockState& state, const Launch& launch, const Program& parts) {
  state.steps.begin_launch();
  state.sites.begin_launch();
  state.shared_memory.begin_launch(parts.thread_locals, launch.shared_bytes);
  if (Gpus* const gpus = device().gpus)
    state.races.begin_launch(gpus->launches(), gpus->launches().is_first_of(device().gpu));
  else
    state.races.begin_launch();
  state.shared_shadow.resize(state.shared_memory.bytes());
  state.copies.resize(state.shared_memory.bytes());
  state.iterations.begin_launch(reinterpret_cast<std::uintptr_t>(launch.kernel));
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
  RequestLog& log = d.block.log;
  d.site_log.set_unfinished();
  log.end_segment();
  for (const unsigned warp : log.paused_warps()) {
    d.block.thread.number = warp * kWarpSize;
    log.resume(warp);
    log.end_segment();
  }
}

/// Says of the launch, and of its instructions, which counts are estimates.
void mark_estimates(Device& d) {
  d.counts.approximate |= d.block.iterations.is_lost();
  d.counts.shared_loads_may_merge |= d.block.sites.shared_loads_may_merge();
  if (!d.site_log.is_on()) return;
  if (d.block.iterations.is_lost()) d.site_log.set_all_approximate();
  if (d.counts.shared_loads_may_merge) d.site_log.set_mergeable(d.block.sites.mergeable_shared_loads());
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
  begin_launch(d.block, launch, parts);
}

void set_block(std::size_t number) {
  Device& d = device();
  const uint3& grid = d.launch.grid;
  d.block.index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                   static_cast<unsigned>(number / grid.x / grid.y)};
  d.block.number = number;
  d.block.traffic.compare_shared_loads(number == 0);  // the first block stands for all
  d.block.races.begin_block(number);
}

bool run_block(std::size_t number) {
  Device& d = device();
  const unsigned threads = d.launch.threads_per_block;
  const long long accesses_before = d.counts.accesses;
  set_block(number);
  d.block.last_barrier = 0;
  d.block.ended_before_barrier = 0;
  d.block.steps.begin_block();
  d.block.shared_shadow.begin_block();
  d.block.copies.begin_block(threads);
  const bool ended = scheduler().run_block(threads);
  d.block.races.end_block();
  d.counts.accesses_of_busiest_block =
      std::max(d.counts.accesses_of_busiest_block, d.counts.accesses - accesses_before);
  return ended;
}

void abandon_block() {
  device().block.log.abandon();
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
  check_execution_space(launch.kernel);
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
