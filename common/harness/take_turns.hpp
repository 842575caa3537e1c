/// \file
/// Option --take-turns: another program decides when a stage runs, so that its own contenders and our stages
/// can be timed in turn.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "gpu/turns.hpp"

namespace workbook {

/// Answers each line of `in` with one line of JSON. Contender i is called names[i].
///
///     burst NAME      {"us": 12.34}: one burst with cold inputs
///     sustained NAME  {"us": ..., "sm_clock_mhz": ..., "memory_clock_mhz": ..., "power_w": ...,
///                     "throttle_reasons": [...]}: a second; null where the sensors tell nothing
///     anything else   {"error": "..."}
///
/// Ends with the input.
void take_turns(gpu::Turns& turns, gpu::SensorLog& sensors, const std::vector<std::string>& names,
                std::istream& in, std::ostream& out);

}  // namespace workbook
