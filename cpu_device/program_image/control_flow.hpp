/// \file
/// The loops of a function, read from its machine code. The compiler calls the device at the start of basic
/// blocks (-fsanitize=coverage=trace-pc). The return addresses of those calls are the function's places: that
/// is where a lane is seen.
///
/// A loop is a natural loop: its header dominates its other blocks, and an edge leads from one of them back
/// to the header (A. Aho, M. Lam, R. Sethi, J. Ullman: Compilers, section 9.6). In which order the compiler
/// has laid out the blocks does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cpu_device/region.hpp"

namespace cpu {

/// A loop, or a call: what a lane does in it belongs together.
struct Loop {
  std::uintptr_t header;  ///< address of the first instruction
  unsigned order;         ///< a lane passes those of a function in ascending order
  /// Edges from several places lead back to the header: one loop with a `continue`, or two nested loops with
  /// the same header. The machine code does not tell which; they are taken to be one.
  bool ambiguous = false;
};

/// The way to a place from the place before it, and what happens to the loops around the lane.
struct Step {
  enum class Change : unsigned char {
    kNone,         ///< loops may be left, but none is entered
    kEnters,       ///< those from `level` on, counted from the outermost
    kBeginsAgain,  ///< the loop at `level`; those inside it are entered
    kNotFollowed,  ///< there are several ways
  };
  std::uintptr_t from;  ///< 0 for the function's caller
  Change change;
  unsigned level;
};

struct Place {
  std::vector<const Loop*> loops;  ///< around it, outermost first
  std::vector<Step> steps;         ///< to it
  std::uint16_t loop = 0;          ///< number of the innermost one; 0 where there is none
  Loop call;                       ///< stands for what is called from here

  // A lane's possible steps before it comes to another place:
  std::vector<std::uintptr_t> calls;  ///< of these functions; 0 for one that is not known
  bool returns = false;

  /// Null when none leads from there.
  const Step* step(std::uintptr_t from) const {
    for (const Step& step : steps)
      if (step.from == from) return &step;
    return nullptr;
  }
  bool may_call(std::uintptr_t function) const;
};

/// Key of a loop's first iteration, from the key around it. Each further iteration adds kOddStep.
std::uint64_t loop_key(std::uint64_t around, const Loop& loop);
constexpr std::uint64_t kOddStep = 0x9e3779b97f4a7c15;

class ControlFlow {
 public:
  /// Reads the function with that code; `marker` is the function that is called at each place.
  ControlFlow(const Region& code, std::uintptr_t marker);

  const Region& code() const { return code_; }
  /// The place at that address; null when there is none.
  const Place* place(std::uintptr_t address) const {
    const std::uintptr_t offset = address - code_.begin;
    return offset < code_.size ? slots_[offset / 4].place : nullptr;
  }

  /// A place that a caller comes to first, with no loop around it; 0 where there is none.
  std::uintptr_t entry() const;

  /// What there is in 4 bytes of code. Places are further apart than that.
  struct Slot {
    /// Number of the loop that the place is in if lanes that come from the same loop neither leave, enter nor
    /// begin any; else kNever.
    std::uint16_t quiet = kNever;
    /// Depth of the place in the function's loops.
    std::uint16_t depth = 0;
    /// Distance from the code's start of the place from which only the innermost loop begins again; 0 where
    /// there is none, or several.
    std::uint32_t latch = 0;
    const Place* place = nullptr;
  };
  const Slot* slots() const { return slots_.data(); }
  static constexpr std::uint16_t kNever = 0xffff;

 private:
  void find_quiet_places();

  Region code_;
  std::deque<Loop> loops_;
  std::map<std::uintptr_t, Place> places_;
  std::vector<Slot> slots_;
};

}  // namespace cpu
