/// \file
/// The order in which contenders are timed: they take turns, in bursts or sustained.
#pragma once

#include <vector>

#include "gpu/measurement.hpp"
#include "gpu/turns.hpp"

namespace workbook {

/// Times contenders 0 to `stages` - 1 in bursts, cold, warm and launched one by one, and those up to `count`
/// - 1, which are ceilings, cold alone. 25 rounds of one sample each: round by round a different order, so
/// that a drift of the clocks meets all alike, and it is left to chance who heats the card for whom. Sample i
/// of each contender is of the same round.
std::vector<ContenderTiming> time_bursts(gpu::Turns& turns, gpu::SensorLog& sensors, std::size_t stages,
                                         std::size_t count);

/// Times contenders 0 to `stages` - 1 sustained, 9 rounds of a second each, and adds that to `timings`. Those
/// that cannot be sustained are left out.
void time_sustained(gpu::Turns& turns, gpu::SensorLog& sensors, std::size_t stages,
                    std::vector<ContenderTiming>& timings);

}  // namespace workbook
