#include "gpu/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace workbook {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The greatest k for which fewer than k heads in n tosses of a coin have a probability of at most 2.5 %.
int interval_rank(int n) {
  int k = 0;
  double probability = std::pow(0.5, n);  // of exactly k heads
  for (double fewer = probability; fewer <= 0.025; fewer += probability) {
    probability *= static_cast<double>(n - k) / (k + 1);
    ++k;
  }
  return k;
}

}  // namespace

Timing summarise(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("summarise: there are no samples");
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return {quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75), std::move(samples)};
}

std::optional<Interval> median_interval(std::vector<double> samples) {
  const auto rank = static_cast<std::size_t>(interval_rank(static_cast<int>(samples.size())));
  if (rank == 0) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return Interval{samples[rank - 1], samples[samples.size() - rank]};
}

Ratio paired_ratio(const std::vector<double>& base, const std::vector<double>& own) {
  if (base.size() != own.size()) throw std::invalid_argument("paired_ratio: the samples are not in pairs");
  std::vector<double> ratios(base.size());
  std::transform(base.begin(), base.end(), own.begin(), ratios.begin(), std::divides<>());
  return {summarise(ratios).median, median_interval(ratios), static_cast<int>(ratios.size())};
}

}  // namespace workbook
