/// \file
/// Timing on a GPU: how long a stage takes, without the time that the host takes to start it.
#pragma once

#include <vector>

#include "gpu/measurement.hpp"

namespace gpu {

/// Times all contenders, interleaved: a sample of each in turn, so that a drift of the clocks meets all
/// alike.
///
/// A sample is one replay of a CUDA graph that holds many runs of the contender between two event records;
/// the time of a run is the time between the events over the number of runs. Cold: the runs take their inputs
/// from `sets` sets in turn, and before each sample the L2 cache is filled with other data. Sets are used a
/// second time in a sample only if all sets together are at least three times the L2. Warm: all runs use set
/// 0. Launched: the same runs without a graph, by the host's clock from the first launch to the end of the
/// last.
std::vector<workbook::ContenderTiming> time(const std::vector<workbook::Contender>& contenders, int sets,
                                            std::size_t l2_bytes);

/// A streaming kernel for each of the streams, as a contender. They share one piece of memory, the size of
/// the largest, which lives as long as one of them. \throws std::bad_alloc
std::vector<workbook::Contender> streaming_ceilings(const std::vector<workbook::Stream>& streams,
                                                    std::size_t l2_bytes);

/// The kernels that `stage` launches, and what each takes of a multiprocessor.
std::vector<workbook::Resources> resources(const std::function<void()>& stage);

/// How many kernels `stage` launches.
int kernel_count(const std::function<void()>& stage);

}  // namespace gpu
