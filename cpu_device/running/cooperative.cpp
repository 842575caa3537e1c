#include "cpu_device/running/cooperative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/launch.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

/// A block that waits at grid.sync().
struct WaitingBlock {
  std::size_t number;
  Scheduler::Waiting threads;
  std::vector<char> statics, dynamic;  ///< its shared memory
  std::vector<unsigned char> written;  ///< of it, as SharedShadow has it
  AsyncCopies copies;
  std::uint64_t steps;
  std::uintptr_t waits_at;
  long long accesses;
};

std::vector<char> bytes_of(const Region& region) {
  const auto* const begin = reinterpret_cast<const char*>(region.begin);
  return {begin, begin + region.size};
}
void set_bytes(const Region& region, const std::vector<char>& bytes) {
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(region.begin));
}

/// Takes the running block from the device, which has made so many accesses for it.
WaitingBlock leave_block(long long accesses) {
  Device& d = device();
  WaitingBlock waiting = {.number = d.block.number,
                          .threads = scheduler().leave_block(),
                          .statics = bytes_of(d.shared_memory.statics()),
                          .dynamic = bytes_of(d.shared_memory.dynamic()),
                          .written = d.shared_shadow.written(),
                          .copies = std::exchange(d.copies, {}),
                          .steps = d.steps.taken(),
                          .waits_at = d.block.last_barrier,
                          .accesses = accesses};
  d.copies.resize(d.shared_memory.bytes());
  return waiting;
}

/// Goes on with a block. Returns what it waits with next, or nothing when it has ended.
std::optional<WaitingBlock> go_on_with(WaitingBlock waiting) {
  Device& d = device();
  const long long accesses_before = d.counts.accesses - waiting.accesses;
  set_block(waiting.number);
  d.block.last_barrier = waiting.waits_at;
  d.block.ended_before_barrier = 0;  // grid.sync() is for all threads
  d.steps.begin_block(waiting.steps);
  d.shared_shadow.begin_block(waiting.written);
  d.copies = std::move(waiting.copies);
  set_bytes(d.shared_memory.statics(), waiting.statics);
  set_bytes(d.shared_memory.dynamic(), waiting.dynamic);
  const bool ended = scheduler().go_on_with(waiting.threads);
  d.races.end_block();
  const long long accesses = d.counts.accesses - accesses_before;
  d.counts.accesses_of_busiest_block = std::max(d.counts.accesses_of_busiest_block, accesses);
  if (ended) return std::nullopt;
  return leave_block(accesses);
}

std::vector<WaitingBlock> start_all() {
  std::vector<WaitingBlock> waiting;
  for (std::size_t block = 0; block < device().launch.blocks(); ++block) {
    const long long accesses_before = device().counts.accesses;
    if (!run_block(block)) waiting.push_back(leave_block(device().counts.accesses - accesses_before));
  }
  return waiting;
}

/// \throws Finding unless all blocks wait
void require_all(const std::vector<WaitingBlock>& waiting) {
  if (waiting.size() == device().launch.blocks()) return;
  std::size_t ended = 0;  // the first that does not wait
  while (ended < waiting.size() && waiting[ended].number == ended) ++ended;
  const std::uintptr_t place = waiting.front().waits_at;
  set_block(waiting.front().number);
  const std::string waits = thread_name(0);
  set_block(ended);
  throw_finding(
      {"grid.sync() that not all blocks reach",
       fmt::format("  {} waits at grid.sync() at {}\n  {} has ended; {} of {} blocks wait", waits,
                   place_text(place), thread_name(0), waiting.size(), device().launch.blocks()),
       "all blocks of the grid must come to grid.sync() equally often: is it in an if, or in a loop "
       "that some blocks leave earlier?",
       place});
}

}  // namespace

void run_together() {
  std::vector<WaitingBlock> waiting = start_all();
  while (!waiting.empty()) {
    require_all(waiting);
    ++device().launch.number;  // what the grid did before happened before all that follows
    device().races.forget();
    std::vector<WaitingBlock> next;
    for (WaitingBlock& block : waiting)
      if (std::optional<WaitingBlock> left = go_on_with(std::move(block))) next.push_back(std::move(*left));
    waiting = std::move(next);
  }
}

}  // namespace cpu
