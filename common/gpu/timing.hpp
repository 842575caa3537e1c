/// \file
/// Timing on a GPU: how long a stage takes, without the time that the host takes to start it.
#pragma once

#include <memory>
#include <vector>

#include "gpu/measurement.hpp"
#include "gpu/turns.hpp"

namespace gpu {

/// Makes contenders ready to be timed.
///
/// A burst is one replay of a CUDA graph that holds many runs of the contender between two event records; the
/// time of a run is the time between the events over the number of runs. Cold: the runs take their inputs
/// from `sets` sets in turn, a second time only if all sets together are at least three times the L2. Warm:
/// all runs use set 0. Sustained: the cold graph is replayed for a second, the next replay always queued
/// before the last one ends.
std::unique_ptr<Turns> turns(const std::vector<workbook::Contender>& contenders, int sets,
                             std::size_t l2_bytes);

}  // namespace gpu
