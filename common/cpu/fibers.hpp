/// \file
/// Stacks on which the threads of a block run, and the switches between them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cpu/iterations.hpp"
#include "cpu/region.hpp"

namespace cpu {

/// A stack on which threads run one after another. A thread that must wait keeps it.
struct alignas(64) Fiber {
  static constexpr std::size_t kStackBytes = 64 * 1024;

  boost::context::detail::fcontext_t context;
  LaneFlow flow;  ///< of its current thread
  void* stack_top;

  Region stack() const { return {reinterpret_cast<std::uintptr_t>(stack_top) - kStackBytes, kStackBytes}; }

  /// Fetches what its thread needs first to the cache.
  void prefetch() const {
    for (int line = 0; line < 8; ++line) __builtin_prefetch(static_cast<const char*>(context) + 64 * line);
  }
};

/// The fibers of a block, and the ones that no thread holds. Control goes from the scheduler to a fiber
/// (`resume`) and back (`suspend`).
class Fibers {
 public:
  static constexpr std::size_t kStackBytes = Fiber::kStackBytes;

  /// At most `most` fibers. Each runs `body` again and again, and is suspended when it returns. \throws
  /// std::runtime_error
  Fibers(std::size_t most, std::function<void()> body);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// All addresses that a stack may have.
  const Region& stacks() const { return stacks_; }
  /// A fiber that no thread holds.
  Fiber* take();
  void give_back(Fiber* fiber) { free_.push_back(fiber); }

  /// Runs a fiber until it suspends itself. Called by the scheduler.
  void resume(Fiber* fiber) {
    running_ = fiber;
    fiber->context = boost::context::detail::jump_fcontext(fiber->context, this).fctx;
  }
  /// Suspends the running fiber; returns when the scheduler resumes it.
  void suspend() { scheduler_ = boost::context::detail::jump_fcontext(scheduler_, nullptr).fctx; }
  Fiber* running() const { return running_; }

  /// Leaves all threads where they are: every fiber is free, and runs `body` from the start.
  void abandon();

 private:
  static void fiber_main(boost::context::detail::transfer_t from);
  static void rewind(Fiber& fiber);
  Fiber* make();

  Region stacks_;
  std::function<void()> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  Fiber* running_ = nullptr;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
};

}  // namespace cpu
