#include "gpu/statistics.hpp"

#include <algorithm>
#include <stdexcept>

namespace workbook {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Timing summarise(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("summarise: there are no samples");
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75),
          static_cast<int>(samples.size())};
}

}  // namespace workbook
