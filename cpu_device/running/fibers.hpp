/// \file
/// Stacks on which the threads of a block run, and the switches between them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cpu_device/counting/iterations.hpp"
#include "cpu_device/region.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {

/// A stack on which threads run one after another. A thread that must wait keeps it.
struct alignas(64) Fiber {
  boost::context::detail::fcontext_t context;
  LaneFlow flow;  ///< of its current thread
  Region stack;   ///< kStackBytes or a little more

  void* stack_top() const { return reinterpret_cast<void*>(stack.begin + stack.size); }

  /// Fetches what its thread needs first to the cache.
  void prefetch() const {
    for (int line = 0; line < 8; ++line) __builtin_prefetch(static_cast<const char*>(context) + 64 * line);
  }
};

/// The fibers of a block, and the ones that no thread holds. Control goes from the scheduler to a fiber
/// (`resume`), perhaps from there to others (`hand_over`), and back (`suspend`).
///
/// The context that goes on after a switch notes where the context that it came from goes on later.
class Fibers {
 public:
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

  /// Runs a fiber until it, or one that it hands over to, suspends itself. Called by the scheduler.
  void resume(Fiber* fiber) {
    running_ = fiber;
    switch_to(fiber->context, scheduler_);
  }
  /// Suspends the running fiber; returns when it is resumed.
  void suspend() { switch_to(scheduler_, running_->context); }
  /// The same, and another fiber that has been suspended goes on.
  void hand_over(Fiber* next) { switch_to(next->context, std::exchange(running_, next)->context); }
  Fiber* running() const { return running_; }

  /// A suspended fiber: its stack and context, which other threads may overwrite meanwhile.
  struct Kept {
    Fiber* fiber;
    boost::context::detail::fcontext_t context;
    LaneFlow flow;
    std::vector<std::byte> stack;  ///< from `context` to the top
  };
  /// The fiber is free from here on.
  Kept keep(Fiber* fiber);
  /// Puts them back on their stacks. No thread holds a fiber.
  void restore(const std::vector<Kept>& fibers);

  /// Leaves all threads where they are: every fiber is free, and runs `body` from the start.
  void abandon();

 private:
  using Context = boost::context::detail::fcontext_t;

  /// The argument of a switch, from the fiber that stops to the one that goes on.
  struct Switch {
    Fibers& fibers;
    Context& left;  ///< where to note where the first one goes on
  };
  void switch_to(Context next, Context& self) {
    Switch mine{*this, self};
    came_from(boost::context::detail::jump_fcontext(next, &mine));
  }
  static Fibers& came_from(const boost::context::detail::transfer_t& from) {
    const Switch& theirs = *static_cast<const Switch*>(from.data);
    theirs.left = from.fctx;
    return theirs.fibers;
  }
  static void fiber_main(boost::context::detail::transfer_t from);
  static void rewind(Fiber& fiber);
  Fiber* make();

  Region stacks_;
  std::function<void()> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  Fiber* running_ = nullptr;
  Context scheduler_ = nullptr;
};

}  // namespace cpu
