/// \file
/// Runs a grid: block after block, and within a block thread after thread. A thread runs until it ends or
/// must wait; then the next goes on. Each thread that waits keeps a stack of its own; those that never wait
/// share one.
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <stdexcept>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"
#include "cpu/symbols.hpp"

namespace cpu {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kGuardBytes = 4096;  // an unmapped page below each stack

enum class State : unsigned char { kNotStarted, kReady, kWaitsForLanes, kInWarpOperation, kAtBarrier, kDone };

/// A stack on which threads run one after another, until one of them must wait and keeps it.
struct Fiber {
  fcontext_t context;
  void* stack_top;
};

enum class WarpOperation : unsigned char { kSync, kShuffle, kBallot, kActive, kCollective };

/// What a thread waits for, at a barrier or in a warp operation, and what it gets.
struct Call {
  WarpOperation operation;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;  ///< the predicate of a vote or barrier, the bits of a shuffle
  int source = 0;           ///< lane, of a shuffle
  std::uintptr_t instruction = 0;
  std::uint64_t result = 0;
  void (*work)(void* const* lanes) = nullptr;  ///< of a collective operation
  void* mine = nullptr;
};

struct Stop {
  std::string kind, details, look_at;
};

uint3 coordinates(unsigned thread, const uint3& extent) {
  if (extent.y == 1 && extent.z == 1) return {thread, 0, 0};
  return {thread % extent.x, thread / extent.x % extent.y, thread / extent.x / extent.y};
}

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
    call_.resize(threads);
    done_ = 0;
    device().shared.begin_block(threads);
    device().copies.begin_block(threads);
    for (;;) {
      for (unsigned first = 0; first < threads; first += kWarpSize)
        run_warp(first, std::min(first + kWarpSize, threads));
      if (done_ == threads) return;
      release_barrier();
    }
  }

  BarrierVote barrier(bool predicate, std::uintptr_t instruction) {
    count_step(instruction);
    call_[current_].value = predicate;
    call_[current_].instruction = instruction;
    const std::uintptr_t block = device().lane_flow->last;
    wait(State::kAtBarrier);
    device().lane_flow->last = block;  // another warp has used it since
    return vote_;
  }

  std::uint64_t warp_operation(const Call& call) {
    count_step(call.instruction);
    const unsigned lane = current_ % kWarpSize;
    if (call.operation != WarpOperation::kActive && !(call.mask >> lane & 1))
      stop({"warp operation without the caller",
            fmt::format("  {} names the lanes {:#010x} at {}, and is lane {}", thread_name(current_),
                        call.mask, place_text(call.instruction), lane),
            "a lane may only call a _sync function with a mask that holds its own bit"});
    const unsigned thread = current_;
    call_[thread] = call;
    wait(State::kInWarpOperation);
    return call_[thread].result;
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
    warp_end_ = end;
    for (;;) {
      for (unsigned t = first; t < end; ++t) {
        if (state_[t] == State::kReady) resume(t);
        if (state_[t] == State::kNotStarted) start_from(t);
      }
      if (!release_warp_operation(first, end) && !catch_up(first, end) && !release_active(first, end)) break;
    }
    stop_for_missing_lane(first, end);
    d.log.end_segment();
    for (unsigned lane = 0; lane < end - first; ++lane) d.iterations.restart(d.flow[lane]);
  }

  /// Lets the lanes that are furthest behind of those that wait for others go on. Returns whether there were
  /// any.
  bool catch_up(unsigned first, unsigned end) {
    Device& d = device();
    const std::uint32_t waiting = lanes_in(State::kWaitsForLanes, first, end);
    if (!waiting) return false;
    std::vector<const Position*> stopped;
    const Position* last = nullptr;
    const std::uint32_t under_way = waiting | lanes_in(State::kInWarpOperation, first, end);
    for (std::uint32_t left = under_way; left; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const Position* position = &d.flow[lane].position;
      if (stopped.empty() || stopped.back()->key() != position->key()) stopped.push_back(position);
      if (waiting >> lane & 1 && (!last || before(*position, *last))) last = position;
    }
    d.log.advance(stopped);
    for (std::uint32_t left = waiting; left; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (d.flow[lane].position.key() == last->key()) state_[first + lane] = State::kReady;
    }
    return true;
  }

  std::uint32_t lanes_in(State state, unsigned first, unsigned end) const {
    std::uint32_t lanes = 0;
    for (unsigned t = first; t < end; ++t)
      if (state_[t] == state) lanes |= 1u << (t - first);
    return lanes;
  }

  void make_ready(std::uint32_t lanes, unsigned first) {
    for (; lanes; lanes &= lanes - 1)
      state_[first + static_cast<unsigned>(std::countr_zero(lanes))] = State::kReady;
  }

  /// Ends one warp operation whose lanes have all come. Returns whether there was one.
  bool release_warp_operation(unsigned first, unsigned end) {
    const std::uint32_t callers = lanes_in(State::kInWarpOperation, first, end);
    for (std::uint32_t left = callers; left; left &= left - 1) {
      const Call& call = call_[first + static_cast<unsigned>(std::countr_zero(left))];
      if (call.operation == WarpOperation::kActive || !all_came(call, callers, first)) continue;
      finish(call, first);
      make_ready(call.mask, first);
      return true;
    }
    return false;
  }

  /// The lanes that ask which are active, when no other can come any more: they name none. Returns whether
  /// there were any.
  bool release_active(unsigned first, unsigned end) {
    std::uint32_t asking = 0;
    for (unsigned t = first; t < end; ++t)
      if (state_[t] == State::kInWarpOperation && call_[t].operation == WarpOperation::kActive)
        asking |= 1u << (t - first);
    for (std::uint32_t left = asking; left; left &= left - 1)
      call_[first + static_cast<unsigned>(std::countr_zero(left))].result = asking;
    make_ready(asking, first);
    return asking != 0;
  }

  bool all_came(const Call& call, std::uint32_t callers, unsigned first) const {
    if ((call.mask & callers) != call.mask) return false;
    for (std::uint32_t left = call.mask; left; left &= left - 1) {
      const Call& other = call_[first + static_cast<unsigned>(std::countr_zero(left))];
      if (!same_call(call, other)) return false;
    }
    return true;
  }

  /// Whether two lanes wait in the same operation. A collective one is a single instruction of the whole warp
  /// (`.aligned` in the PTX manual), of which the compiler may have made several; the others need not be.
  static bool same_call(const Call& a, const Call& b) {
    if (a.operation != b.operation || a.mask != b.mask || a.work != b.work) return false;
    return a.operation != WarpOperation::kCollective || same_line(a.instruction, b.instruction);
  }

  /// Gives every lane of `call`'s mask its result.
  void finish(const Call& call, unsigned first) {
    if (call.operation == WarpOperation::kCollective) return work_together(call, first);
    std::uint32_t ballot = 0;
    for (std::uint32_t left = call.mask; left; left &= left - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
      if (call_[first + lane].value) ballot |= 1u << lane;
    }
    const std::uint32_t mask = call.mask;
    for (std::uint32_t left = mask; left; left &= left - 1) {
      Call& mine = call_[first + static_cast<unsigned>(std::countr_zero(left))];
      if (mine.operation == WarpOperation::kBallot) mine.result = ballot;
      if (mine.operation != WarpOperation::kShuffle) continue;
      if (!(mask >> mine.source & 1)) stop_for_absent_source(mine, first);
      mine.result = call_[first + static_cast<unsigned>(mine.source)].value;
    }
    if (call.operation != WarpOperation::kSync) return;
    device().shared.sync_warp(first, mask);
    device().synced_warps |= 1u << first / kWarpSize;
  }

  void work_together(const Call& call, unsigned first) {
    void* lanes[kWarpSize];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = call_[first + lane].mine;
    call.work(lanes);
  }

  /// Every lane of the warp has ended or waits for others that do: what has not come now never will.
  void stop_for_missing_lane(unsigned first, unsigned end) {
    const std::uint32_t callers = lanes_in(State::kInWarpOperation, first, end);
    if (!callers) return;
    const unsigned caller = first + static_cast<unsigned>(std::countr_zero(callers));
    const Call& call = call_[caller];
    std::string missing;
    for (std::uint32_t left = call.mask; left && missing.empty(); left &= left - 1) {
      const unsigned t = first + static_cast<unsigned>(std::countr_zero(left));
      if (t >= end)
        missing = fmt::format("lane {}, which the block does not have", t - first);
      else if (state_[t] == State::kDone)
        missing = thread_name(t) + ", which has ended";
      else if (state_[t] == State::kAtBarrier)
        missing = fmt::format("{}, which waits at __syncthreads() at {}", thread_name(t),
                              place_text(call_[t].instruction));
      else if (!same_call(call, call_[t]))
        missing = fmt::format("{}, which waits in another operation or with another mask at {}",
                              thread_name(t), place_text(call_[t].instruction));
    }
    const bool collective = call.operation == WarpOperation::kCollective;
    const std::string wants =
        collective ? "needs all lanes of its warp" : fmt::format("names the lanes {:#010x}", call.mask);
    stop_from_scheduler(
        {"warp operation that a lane does not come to",
         fmt::format("  {} {} at {}\n  and waits for {}", thread_name(caller), wants,
                     place_text(call.instruction), missing),
         collective ? "whole warps must come to it: not inside an if that some lanes do not take"
                    : "the mask may only name lanes that make the same call: not those that an if or a\n"
                      "  return keeps out"});
  }

  [[noreturn]] void stop_for_absent_source(const Call& call, unsigned first) {
    const auto thread = static_cast<unsigned>(&call - call_.data());
    stop_from_scheduler({"shuffle from a lane that does not take part",
                         fmt::format("  {} reads lane {} at {}; the mask names {:#010x}", thread_name(thread),
                                     call.source, place_text(call.instruction), call.mask),
                         fmt::format("is lane {} of the warp that begins at {} meant to take part?",
                                     call.source, thread_name(first))});
  }

  /// Every thread that has not ended is at a barrier: lets them go on, if it is the same one.
  void release_barrier() {
    unsigned at = 0;
    while (state_[at] != State::kAtBarrier) ++at;
    vote_ = {0, 0};
    for (unsigned t = at; t < state_.size(); ++t) {
      if (state_[t] != State::kAtBarrier) continue;
      if (!same_line(call_[t].instruction, call_[at].instruction)) stop_for_divergent_barrier(at, t);
      ++vote_.threads;
      vote_.in_favour += call_[t].value != 0;
      state_[t] = State::kReady;
    }
    Device& d = device();
    d.shared.barrier();
    d.synced_warps = 0;
    if (++d.phase == kMostPhases) d.check_races = false;
  }

  [[noreturn]] void stop_for_divergent_barrier(unsigned one, unsigned other) {
    const auto line = [&](unsigned t) {
      return fmt::format("  {} waits at __syncthreads() at {}", thread_name(t),
                         place_text(call_[t].instruction));
    };
    stop_from_scheduler(
        {"barrier that not all threads reach", line(one) + "\n" + line(other),
         "all threads of the block must come to the same __syncthreads(): is one inside an if?"});
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
    const Launch& launch = device().launch;
    while (next_ < warp_end_ && state_[next_] == State::kNotStarted) {
      make_current(next_++);
      device().iterations.start(*device().lane_flow);
      launch.thread(launch.closure);
      state_[current_] = State::kDone;
      ++done_;
    }
  }

  void make_current(unsigned t) {
    Device& d = device();
    const uint3 extent = d.launch.block;
    current_ = t;
    d.lane = t % kWarpSize;
    d.lane_flow = &d.flow[d.lane];
    d.thread_number = t;
    d.thread = coordinates(t, extent);
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

  /// Ends the launch on behalf of a thread that waits.
  [[noreturn]] void stop_from_scheduler(Stop stop) {
    stop_ = std::move(stop);
    throw_stop();
  }

  [[noreturn]] void throw_stop() { throw abandon(stop_); }

 public:
  /// Forgets the launch, which `stop` ends.
  Finding abandon(const Stop& stop) {
    // The threads that were under way are left where they are; their stacks start anew.
    stopped_ = false;
    free_.clear();
    for (const auto& fiber : fibers_) {
      rewind(*fiber);
      free_.push_back(fiber.get());
    }
    const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(device().launch.kernel));
    return Finding(fmt::format("{}: kernel {} ({}:{})\n{}\n  look at: {}", stop.kind, kernel.function,
                               kernel.file, kernel.line, stop.details, stop.look_at));
  }

 private:
  Region stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  fcontext_t scheduler_context_ = nullptr;

  std::vector<State> state_;   // by thread of the block
  std::vector<Fiber*> fiber_;  // of each thread that waits
  std::vector<Call> call_;     // of each thread that is at a barrier or in a warp operation
  BarrierVote vote_{0, 0};     // of the last barrier
  unsigned current_ = 0, next_ = 0, warp_end_ = 0, done_ = 0;
  Fiber* running_fiber_ = nullptr;
  bool stopped_ = false;
  Stop stop_;
};

Scheduler& scheduler() {
  static Scheduler instance;
  return instance;
}

/// The parts of the program that a kernel may meet.
struct Program {
  Region thread_locals;  ///< of this thread: what __shared__ stands for
  std::vector<Region> constants;
};

Program program() {
  Program found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& program = *static_cast<Program*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const Region region = {info->dlpi_addr + part.p_vaddr, part.p_memsz};
          if (part.p_type == PT_TLS && info->dlpi_tls_data)
            program.thread_locals = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), part.p_memsz};
          if ((part.p_type == PT_LOAD && !(part.p_flags & PF_W)) || part.p_type == PT_GNU_RELRO)
            program.constants.push_back(region);
        }
        return 1;  // the program itself comes first
      },
      &found);
  return found;
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
  const std::size_t own = static_shared_bytes(reinterpret_cast<std::uintptr_t>(launch.kernel));
  if (own > kMostStaticSharedBytes)
    refuse(fmt::format("{} bytes in __shared__ arrays: a kernel can declare at most {}", own,
                       kMostStaticSharedBytes),
           "use smaller tiles, or dynamic shared memory, of which a block can have more");
  if (launch.shared_bytes + own > kMostSharedBytes)
    refuse(fmt::format("{} bytes of dynamic and {} of static shared memory: a block has at most {}",
                       launch.shared_bytes, own, kMostSharedBytes),
           "use smaller tiles");
}

/// Steps that a block may take: a billion, or what the environment says in WORKBOOK_STEPS.
std::uint64_t step_budget() {
  const char* text = std::getenv("WORKBOOK_STEPS");
  const std::uint64_t wanted = text ? std::strtoull(text, nullptr, 10) : 0;
  return wanted ? wanted : 1'000'000'000;
}

void prepare(const Launch& launch) {
  Device& d = device();
  d.most_steps = step_budget();
  d.launch = launch;
  ++d.launch_number;
  d.arena = memory().arena();
  d.stacks = scheduler().stacks();
  Program found = program();
  d.static_shared = found.thread_locals;
  d.constants = std::move(found.constants);
  d.dynamic_shared_storage = {reinterpret_cast<std::uintptr_t>(dynamic_shared_storage), kMostSharedBytes};
  d.dynamic_shared = {reinterpret_cast<std::uintptr_t>(dynamic_shared_storage), launch.shared_bytes};
  d.shared.resize(d.static_shared.size + kMostSharedBytes);
  d.copies.resize(d.static_shared.size + kMostSharedBytes);
  memory().forget_touches();
  d.log.begin_launch();
  const Region kernel = function_region(reinterpret_cast<std::uintptr_t>(launch.kernel));
  d.iterations.begin_launch(kernel.begin, kernel.begin + kernel.size, d.flow);
  d.published.assign(std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z, false);
}

/// Linear number of a block in the grid.
std::size_t block_number(const uint3& block, const uint3& grid) {
  return (std::size_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

void begin_block(const uint3& block) {
  Device& d = device();
  const uint3 grid = d.launch.grid, threads = d.launch.block;
  const std::size_t in_block = std::size_t{threads.x} * threads.y * threads.z;
  d.block = block;
  d.first_thread = static_cast<std::uint32_t>(block_number(block, grid) * in_block);
  d.check_races = std::size_t{grid.x} * grid.y * grid.z * in_block <= kMostTracedThreads;
  d.steps = 0;
  d.phase = 0;
  d.synced_warps = 0;
  d.fenced = d.took_part = false;
}

void abandon_launch() {
  grid_runs = false;
  device().log.abandon();
}

}  // namespace

constinit bool grid_runs = false;
Device* const the_device = new Device;

void wait_for_warp() { scheduler().wait(State::kWaitsForLanes); }

void stop_launch(const std::string& kind, const std::string& details, const std::string& look_at) {
  scheduler().stop({kind, details, look_at});
}

Finding stack_overflow(std::uintptr_t instruction) {
  const std::string details =
      fmt::format("  {} needs more than {} KiB for its local variables at {}",
                  thread_name(device().thread_number), kStackBytes / 1024, place_text(instruction + 1));
  abandon_launch();
  return scheduler().abandon(
      {"too many local variables", details,
       "a GPU puts a large local array into device memory, thread by thread: is it needed,\n"
       "  or does it belong into shared memory?"});
}

void out_of_steps(std::uintptr_t instruction) {
  stop_launch("a loop that does not end",
              fmt::format("  {} is at {} when its block has taken {} steps",
                          thread_name(device().thread_number), place_text(instruction), device().most_steps),
              "does what the loop waits for ever change? If the kernel needs more steps, set\n"
              "  WORKBOOK_STEPS to their number");
}

std::string thread_name(unsigned thread, const uint3& block) {
  const uint3 t = coordinates(thread, device().launch.block);
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t.x, t.y, t.z, block.x, block.y, block.z);
}

std::string place_text(std::uintptr_t instruction) {
  const SourceLine place = source_line(instruction);
  const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(device().launch.kernel));
  if (place.file == kernel.file) return fmt::format("line {}", place.line);
  return fmt::format("{}:{}", place.file, place.line);
}

int most_shared_bytes() { return kMostSharedBytes; }
int multiprocessors() { return 132; }

void run(const Launch& launch) {
  check_launch(launch);
  prepare(launch);
  Device& d = device();
  const uint3 grid = launch.grid;
  const Memory::Access open(memory(), true);
  grid_runs = true;
  try {
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) {
          begin_block({x, y, z});
          scheduler().run_block(launch.block.x * launch.block.y * launch.block.z);
        }
  } catch (...) {
    abandon_launch();
    throw;
  }
  grid_runs = false;
  d.counts.approximate |= d.iterations.too_deep();
  ++d.counts.kernels;
  if (!d.each_launch) return;
  const auto extent = [](const uint3& size) { return workbook::Dim3{size.x, size.y, size.z}; };
  const SourceLine kernel = function_at(reinterpret_cast<std::uintptr_t>(launch.kernel));
  d.each_launch({kernel.function, extent(grid), extent(launch.block), d.counts, std::move(d.requests)});
  d.counts = {};
  d.requests.clear();
}

BarrierVote barrier(bool predicate) {
  return scheduler().barrier(predicate, reinterpret_cast<std::uintptr_t>(CALLER));
}
void warp_sync(unsigned mask) {
  scheduler().warp_operation({.operation = WarpOperation::kSync,
                              .mask = mask,
                              .instruction = reinterpret_cast<std::uintptr_t>(CALLER)});
}
unsigned long long warp_shuffle(unsigned mask, unsigned long long value, int source) {
  return scheduler().warp_operation({.operation = WarpOperation::kShuffle,
                                     .mask = mask,
                                     .value = value,
                                     .source = source,
                                     .instruction = reinterpret_cast<std::uintptr_t>(CALLER)});
}
unsigned warp_ballot(unsigned mask, bool predicate) {
  return static_cast<unsigned>(
      scheduler().warp_operation({.operation = WarpOperation::kBallot,
                                  .mask = mask,
                                  .value = predicate,
                                  .instruction = reinterpret_cast<std::uintptr_t>(CALLER)}));
}
unsigned warp_active() {
  return static_cast<unsigned>(scheduler().warp_operation(
      {.operation = WarpOperation::kActive, .instruction = reinterpret_cast<std::uintptr_t>(CALLER)}));
}
void warp_collective(void (*work)(void* const*), void* mine, const void* return_address) {
  scheduler().warp_operation({.operation = WarpOperation::kCollective,
                              .mask = 0xffffffffu,
                              .instruction = reinterpret_cast<std::uintptr_t>(return_address),
                              .work = work,
                              .mine = mine});
}
unsigned lane_index() { return device().lane; }
void thread_fence() { device().fenced = true; }

uint3 thread_index() { return device().thread; }
uint3 block_index() { return device().block; }
uint3 block_extent() { return device().launch.block; }
uint3 grid_extent() { return device().launch.grid; }
void* dynamic_shared_memory() { return dynamic_shared_storage; }

}  // namespace cpu
