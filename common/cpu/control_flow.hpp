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
#include <unordered_map>
#include <vector>

#include "cpu/region.hpp"

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
  Loop call;                       ///< stands for what is called from here

  // What a lane may do before it comes to another place.
  std::vector<std::uintptr_t> calls;  ///< of these functions; 0 for one that is not known
  bool returns = false;

  const Step* step(std::uintptr_t from) const;
  bool may_call(std::uintptr_t function) const;
};

class ControlFlow {
 public:
  /// Of the function with that code; `marker` is the function that is called at each place.
  ControlFlow(const Region& code, std::uintptr_t marker);

  const Region& code() const { return code_; }
  /// The place at that address; null when there is none.
  const Place* place(std::uintptr_t address) const;

  /// A number for the innermost loop around a place.
  static std::uint16_t loop_number(const Place& place);
  /// For each 4 bytes of the code: the number of the loop that a place there is in if lanes that come from
  /// the same loop neither leave, enter nor begin any; else kNever.
  const std::vector<std::uint16_t>& quiet() const { return quiet_; }
  static constexpr std::uint16_t kNever = 0xffff;

 private:
  Region code_;
  std::deque<Loop> loops_;
  std::unordered_map<std::uintptr_t, Place> places_;
  std::vector<std::uint16_t> quiet_;
};

}  // namespace cpu
