#include "cpu/grid.hpp"

#include "cpu/coordinates.hpp"
#include "cpu/device.hpp"
#include "cpu/launch_limits.hpp"
#include "cpu/memory.hpp"
#include "cpu/program.hpp"
#include "cpu/scheduler.hpp"
#include "cpu/source_line.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

void begin_launch(LaunchState& state, const Launch& launch, const Program& parts) {
  static_cast<Launch&>(state) = launch;
  ++state.number;
  state.threads_per_block = launch.block.x * launch.block.y * launch.block.z;
  state.arena = memory().arena();
  state.stacks = scheduler().stacks();
  state.constants = parts.constants;
}

void begin_launch(BlockState& state, const Launch& launch, const Program& parts) {
  state.steps.begin_launch();
  state.sites.begin_launch();
  state.shared_memory.begin_launch(parts.thread_locals, launch.shared_bytes);
  state.races.begin_launch();
  state.shared_shadow.resize(state.shared_memory.most_bytes());
  state.copies.resize(state.shared_memory.most_bytes());
  state.iterations.begin_launch(reinterpret_cast<std::uintptr_t>(launch.kernel));
}

void run_block(const uint3& index) {
  Device& d = device();
  const unsigned threads = d.launch.threads_per_block;
  d.block.index = index;
  d.block.number = linear_number(index, d.launch.grid);
  d.block.last_barrier = 0;
  d.block.steps.begin_block();
  d.block.races.begin_block(d.block.number);
  d.block.shared_shadow.begin_block();
  d.block.copies.begin_block(threads);
  scheduler().run_block(threads);
  d.block.races.end_block();
}

void run_grid(const uint3& grid) {
  const Memory::Access open(memory(), true);
  grid_runs = true;
  try {
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) run_block({x, y, z});
  } catch (...) {
    abandon_launch();
    throw;
  }
  grid_runs = false;
}

/// Passes the launch's counts to whoever wants those of each launch.
void report(Device& d) {
  if (!d.each_launch) return;
  const auto extent = [](const uint3& size) { return workbook::Dim3{size.x, size.y, size.z}; };
  d.each_launch({function_at(d.launch.kernel).instance, extent(d.launch.grid), extent(d.launch.block),
                 d.counts, d.trace.take()});
  d.counts = {};
}

}  // namespace

void abandon_launch() {
  Device& d = device();
  grid_runs = false;
  d.counts = d.launch.counted_before;
  d.trace.take();
  d.block.log.abandon();
  scheduler().abandon();
}

void run(const Launch& launch) {
  check_launch(launch);
  Device& d = device();
  const Program parts = program();
  begin_launch(d.launch, launch, parts);
  d.launch.counted_before = d.counts;
  begin_launch(d.block, launch, parts);
  memory().clear_cold_caches();
  run_grid(launch.grid);
  d.counts.approximate |= d.block.iterations.is_lost();
  d.counts.shared_loads_may_merge |= d.block.sites.shared_loads_may_merge();
  ++d.counts.kernels;
  report(d);
}

}  // namespace cpu
