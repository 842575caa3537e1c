/// \file
/// What is timed on a GPU, and what comes of it: plain data.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace workbook {

/// Microseconds a run, over the samples.
struct Timing {
  double median = 0, p25 = 0, p75 = 0;
  int samples = 0;
};

/// What one kernel of a stage takes of a multiprocessor.
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
  std::size_t set_bytes = 0;  ///< what one run reads and writes
};

/// Traffic of a kernel that does nothing else: `reads` (1 to 5) arrays read and `writes` (0 to 2) written, of
/// `count` floats each.
struct Stream {
  int reads;
  int writes;
  long long count;
};

struct ContenderTiming {
  Timing cold;      ///< inputs come from DRAM
  Timing warm;      ///< the same inputs again and again: from L2 where they fit
  Timing launched;  ///< the same without a graph: launch after launch, as the host gets them out
};

}  // namespace workbook
