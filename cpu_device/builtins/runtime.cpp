/// \file
/// The functions of the device that kernels call (runtime.hpp), as far as they have no file of their own.
#include "cpu_device/dialect/runtime.hpp"

#include <fmt/format.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/cores.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/scheduler.hpp"
#include "system/plural.hpp"

namespace cpu {

/// Bytes that kernels may print; a GPU keeps the last 1 MiB of a launch.
static constexpr std::size_t kMostPrinted = std::size_t{256} << 10;

BarrierVote barrier(BarrierOperation operation, bool predicate) {
  refuse_on_host("__syncthreads() or one of its votes", CALLER);
  return scheduler().barrier(operation, predicate, reinterpret_cast<std::uintptr_t>(CALLER));
}
void grid_barrier() {
  refuse_on_host("grid.sync()", CALLER);
  const auto place = reinterpret_cast<std::uintptr_t>(CALLER);
  if (!device().launch.cooperative)
    stop_launch({"grid.sync() in a launch that is not cooperative",
                 fmt::format("  {} comes to grid.sync() at {}", running_thread_name(), place_text(place)),
                 "start the kernel with cudaLaunchCooperativeKernel: only then are all blocks of the grid "
                 "resident at the same time. A GPU ends the kernel with an error here",
                 place});
  scheduler().barrier(BarrierOperation::kGrid, false, place);
}
bool is_cooperative() { return device().launch.cooperative; }
void warp_sync(unsigned mask) {
  refuse_on_host("__syncwarp()", CALLER);
  scheduler().warp_operation({.operation = WarpOperation::kSync, .mask = mask},
                             reinterpret_cast<std::uintptr_t>(CALLER));
}
unsigned long long warp_shuffle(unsigned mask, unsigned long long value, int source) {
  refuse_on_host("a shuffle", CALLER);
  return scheduler().warp_operation(
      {.operation = WarpOperation::kShuffle, .mask = mask, .value = value, .source = source},
      reinterpret_cast<std::uintptr_t>(CALLER));
}
unsigned warp_ballot(unsigned mask, bool predicate) {
  refuse_on_host("a vote of a warp", CALLER);
  return static_cast<unsigned>(
      scheduler().warp_operation({.operation = WarpOperation::kBallot, .mask = mask, .value = predicate},
                                 reinterpret_cast<std::uintptr_t>(CALLER)));
}
unsigned warp_active() {
  refuse_on_host("__activemask()", CALLER);
  return static_cast<unsigned>(scheduler().warp_operation({.operation = WarpOperation::kActive},
                                                          reinterpret_cast<std::uintptr_t>(CALLER)));
}
void warp_collective(void (*work)(void* const*), void* mine, const void* return_address) {
  refuse_on_host("an operation of nvcuda::wmma", return_address);
  scheduler().warp_operation(
      {.operation = WarpOperation::kCollective, .mask = 0xffffffffu, .work = work, .mine = mine},
      reinterpret_cast<std::uintptr_t>(return_address));
}
unsigned lane_index() {
  refuse_on_host("a shuffle", CALLER);
  return device().thread.lane;
}
void thread_fence(Scope scope) {
  refuse_on_host("__threadfence()", CALLER);
  if (scope != Scope::kBlock) need_block_order();
  device().races.fence(device().thread.number, scope);
}

/// Says that the launch's output is cut off, and how much it has printed.
static void note_cut_off(const Device::Printed& printed, std::uintptr_t instruction) {
  constexpr FindingKind kKind = "output cut off";
  if (is_noted(kKind, instruction)) return;
  const LaunchState& launch = device().launch;
  note({kKind,
        fmt::format(
            "  {} prints at {}, after {} of printf in this launch of {}\n"
            "  kernels have printed {} KiB, and no more is shown",
            running_thread_name(), place_text(instruction), workbook::plural(printed.calls - 1, "call"),
            workbook::plural(launch.blocks() * launch.threads_per_block, "thread"), kMostPrinted / 1024),
        "does every thread print, or one of them in a long loop? Let one thread do it, as in "
        "`if (blockIdx.x == 0 && threadIdx.x == 0) printf(...);`",
        instruction});
}

/// Counts a call of printf. Returns whether the launch may still print.
static bool may_print(std::uintptr_t instruction) {
  const Device& d = device();
  Device::Printed& printed = device().printed;
  if (printed.launch != d.launch.number) printed = {.bytes = printed.bytes, .launch = d.launch.number};
  ++printed.calls;
  if (printed.bytes <= kMostPrinted) return true;
  note_cut_off(printed, instruction);
  return false;
}

int printf(const char* format, ...) {
  need_block_order();
  if (grid_runs && !may_print(reinterpret_cast<std::uintptr_t>(CALLER))) return 0;
  va_list values;
  va_start(values, format);
  const int written = std::vprintf(format, values);
  va_end(values);
  if (grid_runs && written > 0) device().printed.bytes += static_cast<std::size_t>(written);
  return written;
}

uint3 thread_index() {
  refuse_on_host("threadIdx", CALLER);
  return device().thread.index;
}
uint3 block_index() {
  refuse_on_host("blockIdx", CALLER);
  return device().block.index;
}
uint3 block_extent() {
  refuse_on_host("blockDim", CALLER);
  return device().launch.block;
}
uint3 grid_extent() {
  refuse_on_host("gridDim", CALLER);
  return device().launch.grid;
}

void* dynamic_shared_memory() {
  refuse_on_host("dynamic_shared()", CALLER);
  return reinterpret_cast<void*>(device().shared_memory.dynamic().begin);
}

}  // namespace cpu
