/// \file
/// The functions of the device that kernels call (runtime.hpp), as far as they have no file of their own.
#include "cpu/runtime.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "cpu/access.hpp"
#include "cpu/cores.hpp"
#include "cpu/device.hpp"
#include "cpu/scheduler.hpp"

namespace cpu {

BarrierVote barrier(BarrierOperation operation, bool predicate) {
  return scheduler().barrier(operation, predicate, reinterpret_cast<std::uintptr_t>(CALLER));
}
void warp_sync(unsigned mask) {
  scheduler().warp_operation({.operation = WarpOperation::kSync, .mask = mask},
                             reinterpret_cast<std::uintptr_t>(CALLER));
}
unsigned long long warp_shuffle(unsigned mask, unsigned long long value, int source) {
  return scheduler().warp_operation(
      {.operation = WarpOperation::kShuffle, .mask = mask, .value = value, .source = source},
      reinterpret_cast<std::uintptr_t>(CALLER));
}
unsigned warp_ballot(unsigned mask, bool predicate) {
  return static_cast<unsigned>(
      scheduler().warp_operation({.operation = WarpOperation::kBallot, .mask = mask, .value = predicate},
                                 reinterpret_cast<std::uintptr_t>(CALLER)));
}
unsigned warp_active() {
  return static_cast<unsigned>(scheduler().warp_operation({.operation = WarpOperation::kActive},
                                                          reinterpret_cast<std::uintptr_t>(CALLER)));
}
void warp_collective(void (*work)(void* const*), void* mine, const void* return_address) {
  scheduler().warp_operation(
      {.operation = WarpOperation::kCollective, .mask = 0xffffffffu, .work = work, .mine = mine},
      reinterpret_cast<std::uintptr_t>(return_address));
}
unsigned lane_index() { return device().block.thread.lane; }
void thread_fence(bool whole_device) {
  if (whole_device) need_block_order();
  device().block.races.fence(device().block.thread.number, whole_device);
}

int printf(const char* format, ...) {
  need_block_order();
  va_list values;
  va_start(values, format);
  const int written = std::vprintf(format, values);
  va_end(values);
  return written;
}

int multiprocessors() { return 132; }

uint3 thread_index() { return device().block.thread.index; }
uint3 block_index() { return device().block.index; }
uint3 block_extent() { return device().launch.block; }
uint3 grid_extent() { return device().launch.grid; }

}  // namespace cpu
