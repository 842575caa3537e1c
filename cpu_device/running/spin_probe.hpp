/// \file
/// Finds out whether a thread spins: whether it goes round a loop that can only end when another thread
/// changes what the loop reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu_device/access.hpp"
#include "cpu_device/running/thread_image.hpp"

namespace cpu {

/// A thread that spins.
struct Spin {
  Access at{};          ///< the step that it was about to take when it was suspended
  ThreadImage image;    ///< of the thread at that step
  Access polled{};      ///< the load or atomic of the loop that can end it; its size is 0 when there is none
  bool stores = false;  ///< plain stores, of what is there already, are part of the loop
};

/// Watches the steps of one thread for a while. The thread spins when it comes to one step three times with
/// the same registers, the same stack and the same memory, and nothing else ran in between: it will then do
/// so for ever. A loop that counts, or that writes, is never taken for a spin.
class SpinProbe {
 public:
  enum class Verdict : unsigned char { kUnknown, kGivesUp, kSpins };

  bool on() const { return on_; }
  unsigned thread() const { return thread_; }

  /// Begins to watch a thread of the running block.
  void begin(unsigned thread);
  /// Goes on with a thread that spun and has been resumed. It still spins when it comes back to where it was.
  void resume(unsigned thread, Spin&& spin);
  void end() { on_ = false; }

  /// The thread is about to take a step: an access, or an iteration, whose size is 0.
  Verdict look(const Access& step);
  /// Whether the thread that spins did so before it was resumed.
  bool again() const { return resumed_; }
  Spin&& take() { return static_cast<Spin&&>(spin_); }

 private:
  struct Write {
    std::uintptr_t address;
    unsigned size;
    std::array<std::byte, 16> before;
  };

  void start(unsigned thread);
  void set_anchor(const Access& step);
  Verdict come_back(const Access& step);
  void begin_period();
  void note(const Access& step);
  bool memory_is_as_before() const;

  bool on_ = false, resumed_ = false;
  unsigned thread_ = 0;
  unsigned steps_ = 0, images_ = 0;
  unsigned periods_ = 0;  // since the thread's image last changed
  bool wants_anchor_ = false, has_anchor_ = false, has_image_ = false;
  bool has_access_ = false;  // among the steps so far
  bool too_many_writes_ = false;
  Spin spin_;
  ThreadImage now_;
  std::vector<Write> writes_;  // since the thread was last at the anchor, with what was there before
};

}  // namespace cpu
