/// \file
/// Runs a grid: block after block, and within a block thread after thread. A thread runs until it ends or
/// must wait; then the next goes on. Each thread that waits keeps a stack of its own; those that never wait
/// share one.
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <stdexcept>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"

namespace cpu {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kGuardBytes = 4096;  // an unmapped page below each stack

enum class State : unsigned char { kNotStarted, kReady, kWaitsForWarp, kWaitsAtBarrier, kDone };

/// A stack on which threads run one after another, until one of them must wait and keeps it.
struct Fiber {
  fcontext_t context;
  void* stack_top;
};

struct Stop {
  std::string kind, details, look_at;
};

class Scheduler {
 public:
  Scheduler() {
    const std::size_t bytes = kMostThreads * (kStackBytes + kGuardBytes);
    void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::runtime_error("the CPU device found no address space for its stacks");
    stacks_ = {reinterpret_cast<std::uintptr_t>(base), bytes};
  }

  const Region& stacks() const { return stacks_; }

  void run_block(unsigned threads) {
    state_.assign(threads, State::kNotStarted);
    fiber_.assign(threads, nullptr);
    done_ = 0;
    for (;;) {
      for (unsigned first = 0; first < threads; first += kWarpSize)
        run_warp(first, std::min(first + kWarpSize, threads));
      if (done_ == threads) return;
      // Every thread that has not ended is at the barrier.
      for (State& state : state_)
        if (state == State::kWaitsAtBarrier) state = State::kReady;
    }
  }

  /// Suspends the running thread in `state`; returns when the scheduler resumes it.
  void wait(State state) {
    state_[current_] = state;
    fiber_[current_] = running_fiber_;
    scheduler_context_ = jump_fcontext(scheduler_context_, nullptr).fctx;
  }

  [[noreturn]] void stop(Stop stop) {
    stop_ = std::move(stop);
    stopped_ = true;
    jump_fcontext(scheduler_context_, nullptr);
    __builtin_unreachable();
  }

 private:
  /// Runs the threads [first, end) of one warp until all have ended or are at the barrier.
  void run_warp(unsigned first, unsigned end) {
    Device& d = device();
    for (;;) {
      warp_end_ = end;
      for (unsigned t = first; t < end; ++t) {
        if (state_[t] == State::kReady) resume(t);
        if (state_[t] == State::kNotStarted) start_from(t);
      }
      std::uint32_t waiting = 0;
      for (unsigned t = first; t < end; ++t) {
        if (state_[t] != State::kWaitsForWarp) continue;
        waiting |= 1u << (t - first);
        state_[t] = State::kReady;
      }
      if (!waiting) break;
      d.log.advance(waiting);
    }
    d.log.end_segment();
  }

  /// Starts thread t on a free fiber, which goes on with the threads after it until one must wait.
  void start_from(unsigned t) {
    next_ = t;
    if (free_.empty()) free_.push_back(make_fiber());
    Fiber* fiber = free_.back();
    free_.pop_back();
    jump_to(fiber);
  }

  void resume(unsigned t) {
    make_current(t);
    jump_to(fiber_[t]);
  }

  void jump_to(Fiber* fiber) {
    running_fiber_ = fiber;
    const auto transfer = jump_fcontext(fiber->context, this);
    fiber->context = transfer.fctx;
    if (stopped_) throw_stop();
    // Its thread ended and no other was left to start: free for others. A waiting thread keeps its fiber.
    if (state_[current_] == State::kDone) free_.push_back(fiber);
  }

  static void fiber_main(boost::context::detail::transfer_t from) {
    auto* self = static_cast<Scheduler*>(from.data);
    self->scheduler_context_ = from.fctx;
    for (;;) {
      self->run_threads();
      self->scheduler_context_ = jump_fcontext(self->scheduler_context_, nullptr).fctx;
    }
  }

  void run_threads() {
    const Launch& launch = *device().launch;
    while (next_ < warp_end_ && state_[next_] == State::kNotStarted) {
      make_current(next_++);
      launch.thread(launch.closure);
      state_[current_] = State::kDone;
      ++done_;
    }
  }

  void make_current(unsigned t) {
    Device& d = device();
    const uint3 extent = d.launch->block;
    current_ = t;
    d.lane = t % kWarpSize;
    if (extent.y == 1 && extent.z == 1)
      d.thread = {t, 0, 0};
    else
      d.thread = {t % extent.x, t / extent.x % extent.y, t / extent.x / extent.y};
  }

  Fiber* make_fiber() {
    const std::uintptr_t low = stacks_.begin + fibers_.size() * (kStackBytes + kGuardBytes) + kGuardBytes;
    if (mprotect(reinterpret_cast<void*>(low), kStackBytes, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("the CPU device found no memory for another stack");
    auto fiber = std::make_unique<Fiber>();
    fiber->stack_top = reinterpret_cast<void*>(low + kStackBytes);
    rewind(*fiber);
    fibers_.push_back(std::move(fiber));
    return fibers_.back().get();
  }

  static void rewind(Fiber& fiber) {
    fiber.context = make_fcontext(fiber.stack_top, kStackBytes, fiber_main);
  }

  [[noreturn]] void throw_stop() {
    // The threads that were under way are left where they are; their stacks start anew.
    stopped_ = false;
    free_.clear();
    for (const auto& fiber : fibers_) {
      rewind(*fiber);
      free_.push_back(fiber.get());
    }
    const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(device().launch->kernel));
    throw Finding(fmt::format("{}: kernel {} ({}:{})\n{}\n  look at: {}", stop_.kind, kernel.function,
                              kernel.file, kernel.line, stop_.details, stop_.look_at));
  }

  Region stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  fcontext_t scheduler_context_ = nullptr;

  std::vector<State> state_;   // by thread of the block
  std::vector<Fiber*> fiber_;  // of each thread that waits
  unsigned current_ = 0, next_ = 0, warp_end_ = 0, done_ = 0;
  Fiber* running_fiber_ = nullptr;
  bool stopped_ = false;
  Stop stop_;
};

Scheduler& scheduler() {
  static Scheduler instance;
  return instance;
}

/// The segment of thread-local variables of the program: what __shared__ stands for.
Region thread_local_segment() {
  Region segment;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data)
            *static_cast<Region*>(out) = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data),
                                          info->dlpi_phdr[i].p_memsz};
        return 1;  // the program itself comes first
      },
      &segment);
  return segment;
}

alignas(128) char dynamic_shared_storage[kMostSharedBytes];

/// What a GPU refuses to launch at all.
void check_launch(const Launch& launch) {
  const auto refuse = [&](const std::string& what, const char* look_at) {
    const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(launch.kernel));
    throw Finding(fmt::format("launch refused: kernel {} ({}:{})\n  {}\n  look at: {}", kernel.function,
                              kernel.file, kernel.line, what, look_at));
  };
  const auto [grid, block] = std::pair(launch.grid, launch.block);
  if (std::size_t{grid.x} * grid.y * grid.z == 0)
    refuse(fmt::format("a grid of {} x {} x {} blocks is empty", grid.x, grid.y, grid.z),
           "round the number of blocks up, not down");
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    refuse(fmt::format("a grid of {} x {} x {} blocks: the most are 2147483647 x 65535 x 65535", grid.x,
                       grid.y, grid.z),
           "put the long dimension first");
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMostThreads || block.z > 64)
    refuse(
        fmt::format("a block of {} x {} x {} threads: a block has 1 to {} threads, at most 64 of them in z",
                    block.x, block.y, block.z, kMostThreads),
        "use more blocks with fewer threads each");
  if (launch.shared_bytes > kMostSharedBytes)
    refuse(fmt::format("{} bytes of dynamic shared memory: a block has at most {}", launch.shared_bytes,
                       kMostSharedBytes),
           "use smaller tiles");
}

void prepare(const Launch& launch) {
  Device& d = device();
  d.launch = &launch;
  d.arena = memory().arena();
  d.stacks = scheduler().stacks();
  d.static_shared = thread_local_segment();
  d.dynamic_shared = {reinterpret_cast<std::uintptr_t>(dynamic_shared_storage), launch.shared_bytes};
  d.shared_writes.resize(d.static_shared.size + kMostSharedBytes);
  memory().forget_touches();
  d.log.begin_launch();
}

}  // namespace

Device& device() {
  static Device instance;
  return instance;
}

void wait_for_warp() { scheduler().wait(State::kWaitsForWarp); }
void barrier() { scheduler().wait(State::kWaitsAtBarrier); }

void stop_launch(const std::string& kind, const std::string& details, const std::string& look_at) {
  scheduler().stop({kind, details, look_at});
}

std::string running_thread() {
  const Device& d = device();
  return fmt::format("thread ({},{},{}) of block ({},{},{})", d.thread.x, d.thread.y, d.thread.z, d.block.x,
                     d.block.y, d.block.z);
}

void run(const Launch& launch) {
  check_launch(launch);
  prepare(launch);
  Device& d = device();
  const uint3 grid = launch.grid;
  d.running = true;
  try {
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) {
          d.block = {x, y, z};
          ++d.block_number;
          scheduler().run_block(launch.block.x * launch.block.y * launch.block.z);
        }
  } catch (...) {
    d.running = false;
    d.log.abandon();
    throw;
  }
  d.running = false;
  ++d.counts.kernels;
}

uint3 thread_index() { return device().thread; }
uint3 block_index() { return device().block; }
uint3 block_extent() { return device().launch->block; }
uint3 grid_extent() { return device().launch->grid; }
void* dynamic_shared_memory() { return dynamic_shared_storage; }

}  // namespace cpu
