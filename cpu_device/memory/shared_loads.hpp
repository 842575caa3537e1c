/// \file
/// Which loads from shared memory nvcc may merge into wider ones: docs/cpu_device.md, "One load in the
/// source, another in the machine".
#pragma once

#include <cstdint>

#include "cpu_device/memory/wavefronts.hpp"

namespace cpu {

/// A summary of one instruction's loads from shared memory, of 4 or 8 bytes per lane, by the first block of a
/// grid.
///
/// nvcc merges two loads when it knows while compiling that the second one reads the next word in every lane,
/// and that the first one's address is a multiple of both. The two are successive iterations of an unrolled
/// loop, or two loads of one source line. What nvcc knows holds in every execution, so a single one in which
/// it does not hold rules the merge out. Sums with a random weight for each lane and request stand for the
/// addresses, so that two instructions can be compared without storing them.
class SharedLoads {
 public:
  /// Another stretch of the program begins: nvcc does not merge loads across a barrier.
  void begin_segment() {
    if (used_) end_runs();
    weight_ = 1;
  }
  /// Adds a request of `size` bytes per lane. The requests of a warp come roughly in the order of its
  /// iterations: that of the first iteration of a loop may come late.
  void add(const Request& request, unsigned size);
  /// Whether the instruction has executed.
  bool any() const { return requests_ > 0; }

  /// Whether successive iterations read neighbouring words, from an aligned one on, whenever they ran. Ends
  /// the segment.
  bool merges_iterations();
  /// Whether `next` has read the word after this instruction's, which was aligned, whenever they ran.
  bool merges_with(const SharedLoads& next, unsigned size) const;

 private:
  std::uint64_t addresses_ = 0, lanes_ = 0;  ///< weighted sums over all requests
  long long requests_ = 0;
  std::uintptr_t address_bits_ = 0;  ///< all addresses, by or
  bool aligned_run_ = false, misaligned_run_ = false;

  /// Requests of this segment of which each reads the next words.
  struct Run {
    std::uint64_t first, last;  ///< weighted sums of the addresses of its first and last request
    std::uint32_t mask;
    unsigned requests;
    bool aligned;  ///< its first request
    bool whole;    ///< it is not the rest of a run that other lanes have left
  };
  static constexpr unsigned kRuns =
      16;  ///< that are followed at once: a thread tile has one for each of its rows

  void end(const Run& run);
  void end_runs();
  unsigned place_for_run();

  std::uint64_t weight_ = 1;  ///< of the next request
  Run runs_[kRuns];
  unsigned used_ = 0, current_ = 0;  ///< the run of the last request is the current one
};

}  // namespace cpu
