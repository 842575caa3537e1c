#include "cpu_device/running/cores.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <latch>
#include <new>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cpu_device/memory/array_parts.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/faults.hpp"
#include "cpu_device/running/launch.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

constexpr unsigned kMostWorkers = 16;
/// The most that all workers' notes may take together, if each worker uses every array.
constexpr std::size_t kMostNoteBytes = std::size_t{8} << 30;

/// The workers' devices; they are kept from launch to launch. Worker n has number n - 1.
std::deque<Device> devices;

/// Kernels whose last attempt was thrown away because blocks depended on each other.
std::unordered_set<const void*> kernels_in_order;

/// Whether an attempt may succeed and would pay, as far as one can know before. `accesses` is what the blocks
/// are expected to make.
bool worth_trying(const Device& caller, double accesses, unsigned workers) {
  if (workers < 2 || caller.site_log.is_on() || caller.order_needed || !caller.races.is_on() ||
      kernels_in_order.contains(caller.launch.kernel))
    return false;
  std::size_t bytes = 0;
  for (const auto& array : memory().buffers()) bytes += array->pages.size;
  if (bytes / 4 * sizeof(WordHistory) > kMostNoteBytes / workers) return false;
  const SpreadRule& rule = spread_rule();
  return accesses >= static_cast<double>(rule.least_accesses) &&
         accesses * rule.most_bytes_per_access >= static_cast<double>(bytes);
}

/// One attempt to run blocks of the caller's launch on several cores.
class Attempt {
 public:
  Attempt(const Device& caller, std::size_t first, unsigned workers)
      : caller_(caller), first_(first), workers_(workers), saved_(workers) {
    for (const auto& array : memory().buffers()) make_notes(*array, workers);
    while (devices.size() < workers) devices.emplace_back();
  }

  /// Runs the blocks. Returns whether all workers came to the end of their parts.
  bool run() {
    std::vector<std::jthread> threads;
    threads.reserve(workers_);
    try {
      for (unsigned worker = 1; worker <= workers_; ++worker)
        threads.emplace_back([this, worker] { run_part(worker); });
    } catch (...) {  // no more threads
      stopped_ = true;
      saved_.count_down(static_cast<std::ptrdiff_t>(workers_ - threads.size()));
    }
    threads.clear();  // waits for them
    return !stopped_;
  }

  /// Whether no block depended on another that the parts have separated.
  bool independent() const {
    return std::all_of(memory().buffers().begin(), memory().buffers().end(), [&](const auto& array) {
      return parts_independent(*array, workers_, caller_.launch.number);
    });
  }
  /// Adds what the workers have noted and counted to what the caller has.
  void join(workbook::Counts& counts) const {
    for (const auto& array : memory().buffers()) join_parts(*array, workers_);
    for (unsigned i = 0; i < workers_; ++i) {
      counts += devices[i].counts;
      counts.approximate |= devices[i].iterations.is_lost();
    }
  }
  void take_back() const {
    for (const auto& array : memory().buffers()) restore(*array);
  }

 private:
  /// The work of a worker's thread.
  void run_part(unsigned worker) noexcept {
    Device& mine = devices[worker - 1];
    the_running = &mine;
    mine.worker = worker;
    mine.gpu = caller_.gpu;
    grid_runs = true;
    for (const auto& array : memory().buffers()) {
      save_share(*array, worker - 1, workers_);
      begin_part(*array, worker);
    }
    saved_.arrive_and_wait();  // from here on workers write the arrays
    bool ended = false;
    try {
      ended = ends_without_fault([&] { run_blocks_of(worker); });
    } catch (...) {  // PartStopped, or out of memory
    }
    if (ended) return;
    stopped_ = true;
    abandon_block();
  }

  void run_blocks_of(unsigned worker) {
    const std::size_t blocks = caller_.launch.blocks() - first_;
    const std::size_t end = first_ + blocks * worker / workers_;
    begin_blocks(caller_.launch);
    device().counts = {};
    for (std::size_t block = first_ + blocks * (worker - 1) / workers_; block < end && !stopped_; ++block)
      run_block(block);
  }

  const Device& caller_;
  const std::size_t first_;
  const unsigned workers_;
  std::latch saved_;
  std::atomic<bool> stopped_ = false;  // no worker needs to go on
};

}  // namespace

std::optional<unsigned> wanted_cores() {
  const char* const text = std::getenv("WORKBOOK_CORES");
  const std::string_view number = text ? text : "0";
  unsigned wanted = 0;
  const auto [end, error] = std::from_chars(number.begin(), number.end(), wanted);
  if (error != std::errc() || end != number.end()) return std::nullopt;
  return std::min(wanted ? wanted : std::thread::hardware_concurrency(), kMostWorkers);
}

SpreadRule& spread_rule() {
  static SpreadRule rule;
  return rule;
}

bool run_on_cores(std::size_t first, long long accesses_before) {
  Device& caller = device();
  const std::size_t blocks = caller.launch.blocks() - first;
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(wanted_cores().value_or(1), blocks));
  const double expected = static_cast<double>(accesses_before) / static_cast<double>(first);
  if (!worth_trying(caller, expected * static_cast<double>(blocks), workers)) return false;

  try {
    Attempt attempt(caller, first, workers);
    if (attempt.run() && attempt.independent()) {
      attempt.join(caller.counts);
      ++spread_rule().spread;
      return true;
    }
    attempt.take_back();
    ++spread_rule().thrown_away;
    kernels_in_order.insert(caller.launch.kernel);
  } catch (const std::bad_alloc&) {  // no memory for the workers' notes
  }
  return false;
}

void need_block_order() {
  Device& d = device();
  d.order_needed = true;
  if (!d.worker) return;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (d.launch.stacks.contains(here)) scheduler().stop_part();
  throw PartStopped();
}

}  // namespace cpu
