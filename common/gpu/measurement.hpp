/// \file
/// The contenders that are timed on a GPU, and the results: plain data.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace workbook {

/// Microseconds per run.
struct Timing {
  double median = 0, p25 = 0, p75 = 0;
  std::vector<double> samples;  ///< one per round, in order; empty: it was not timed
};

/// From the lower to the upper bound.
struct Interval {
  double low, high;
};

/// How many times as long one contender took as another.
struct Ratio {
  double median;                     ///< of the ratios of all rounds
  std::optional<Interval> interval;  ///< of 95 %; nothing where there are too few rounds
  int samples;
};

/// Whether the interval holds 1, or there is none: then neither of the two is known to be faster.
inline bool shows_no_difference(const Ratio& ratio) {
  return !ratio.interval || (ratio.interval->low <= 1 && ratio.interval->high >= 1);
}

/// The share of a multiprocessor that one kernel of a stage occupies.
struct Resources {
  std::string kernel;
  int threads = 0;               ///< per block
  int registers = 0;             ///< per thread
  std::size_t spill_bytes = 0;   ///< local memory per thread
  std::size_t shared_bytes = 0;  ///< static and dynamic, per block
  double occupancy = 0;          ///< resident warps, as a share of the most that fit
};

/// One thing to time: `run(set)` launches it on input set `set`.
struct Contender {
  std::function<void(int set)> run;
  std::size_t set_bytes = 0;         ///< of the inputs and outputs that one run reads and writes
  std::string name;                  ///< of a streaming kernel
  std::function<void()> reset = {};  ///< called before each of its turns, not timed; may be empty
};

/// Traffic of a kernel that does nothing else: `reads` (1 to 5) arrays read and `writes` (0 to 2) written, of
/// `count` floats each.
struct Stream {
  int reads;
  int writes;
  long long count;

  bool operator==(const Stream&) const = default;
};

/// The GPU's sensors while a contender ran: averages over all readings.
struct Clocks {
  double sm_clock_mhz;
  double memory_clock_mhz;
  double power_w;
  std::vector<std::string> throttle_reasons;  ///< names of what kept the clocks down in any reading
};

/// In bursts, and sustained: docs/measuring.md says how both are taken.
struct ContenderTiming {
  Timing cold;       ///< in a burst, inputs come from DRAM
  Timing warm;       ///< in a burst, the same inputs again and again: from L2 where they fit
  Timing launched;   ///< the same without a graph: launch after launch, as the host gets them out
  Timing sustained;  ///< for a second per turn; no samples: not requested, or it cannot be cold
  std::optional<Clocks> burst_clocks;      ///< during the bursts, cold and warm
  std::optional<Clocks> sustained_clocks;  ///< during the second half of each second
};

}  // namespace workbook
