/// \file
/// Medians, quartiles, and intervals of timing samples.
#pragma once

#include <optional>
#include <vector>

#include "gpu/measurement.hpp"

namespace workbook {

/// Median and quartiles of the samples, interpolated linearly between neighbours. \throws
/// std::invalid_argument if empty
Timing summarise(std::vector<double> samples);

/// The 95 % interval of the median that independent samples were drawn with, whatever their distribution: the
/// values of rank k from below and from above. The median is outside if fewer than k of n samples are on one
/// side of it, and how many are is binomially distributed, like n tosses of a coin; k is the greatest rank
/// that leaves at most 2.5 % on each side. Nothing for fewer than 6 samples, where no rank does. (H. A. David
/// and H. N. Nagaraja, Order Statistics, section 7.1)
std::optional<Interval> median_interval(std::vector<double> samples);

/// How many times as long the base took as the other one, round by round: base[i] / own[i].
/// \throws std::invalid_argument if they are empty or differ in number
Ratio paired_ratio(const std::vector<double>& base, const std::vector<double>& own);

}  // namespace workbook
