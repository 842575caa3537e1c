/// \file
/// Contenders that are ready to run on a GPU: whoever times them decides whose turn it is.
#pragma once

#include <cstddef>

#include "gpu/sensors.hpp"

namespace gpu {

/// Contenders by number, from 0. All times are in microseconds per run.
class Turns {
 public:
  virtual ~Turns() = default;

  /// A burst with cold inputs: the L2 cache is filled with other data, then the contender runs for about 4
  /// ms, on one set of inputs after the other.
  virtual double cold_us(std::size_t contender) = 0;
  /// A burst on one and the same set of inputs.
  virtual double warm_us(std::size_t contender) = 0;
  /// The same without a CUDA graph, by the host's clock from the first launch to the end of the last.
  virtual double launched_us(std::size_t contender) = 0;

  /// Whether the contender's sets of inputs are so many that none is in the L2 cache when its turn comes
  /// again.
  virtual bool can_sustain(std::size_t contender) const = 0;
  /// The contender runs for a second, on one set of inputs after the other; the time is that of the second
  /// half of it, whose sensor readings `log` keeps.
  virtual double sustained_us(std::size_t contender, SensorLog& log) = 0;
};

}  // namespace gpu
