/// \file
/// Which loads from shared memory nvcc may merge into wider ones: docs/cpu_device.md, "One load in the
/// source, another in the machine".
#pragma once

#include <cstdint>

#include "cpu/wavefronts.hpp"

namespace cpu {

/// What is remembered of one instruction's loads from shared memory in a launch, of 4 or 8 bytes per lane.
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
    run_ = 0;
    weight_ = 1;
  }
  /// Adds a request of `size` bytes per lane; those of a warp come in the order of its iterations.
  void add(const Request& request, unsigned size);
  /// Whether the instruction has executed.
  bool any() const { return requests_ > 0; }

  /// Whether successive iterations read neighbouring words, from an aligned one on, whenever they ran.
  bool merges_iterations() const { return aligned_run_ && !misaligned_run_; }
  /// Whether `next` has read the word after this instruction's, which was aligned, whenever they ran.
  bool merges_with(const SharedLoads& next, unsigned size) const;

 private:
  std::uint64_t addresses_ = 0, lanes_ = 0;  ///< weighted sums over all requests
  long long requests_ = 0;
  std::uintptr_t address_bits_ = 0;  ///< all addresses, by or
  bool aligned_run_ = false, misaligned_run_ = false;

  // The last request of this segment. A run is a series of requests of which each reads the next words.
  std::uint64_t weight_ = 1;
  std::uint64_t last_ = 0;  ///< weighted sum of its addresses
  std::uint32_t last_mask_ = 0;
  unsigned run_ = 0;  ///< requests in the run
  bool run_is_aligned_ = false;
};

}  // namespace cpu
