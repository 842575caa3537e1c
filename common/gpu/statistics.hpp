/// \file
/// Median and quartiles of timing samples.
#pragma once

#include <vector>

#include "gpu/measurement.hpp"

namespace workbook {

/// Median and quartiles of the samples, interpolated linearly between neighbours. \throws
/// std::invalid_argument if empty
Timing summarise(std::vector<double> samples);

}  // namespace workbook
