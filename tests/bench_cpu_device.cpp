/// \file
/// How fast the CPU device is: traced accesses a second, on one core, with all its checks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "run_stage.hpp"

namespace cpu::multiply_add {
workbook::Chapter chapter();
}

int main() {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 7;
  const workbook::Chapter chapter = cpu::multiply_add::chapter();
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, {{1 << 22, 1, 1}}, *backend);
  for (int i = 0; i < chapter.stage_count; ++i) {
    const workbook::Stage& stage = chapter.stages[i];
    if (!stage.run) continue;
    std::vector<double> rates;
    for (int run = 0; run < kRuns; ++run) {
      const auto start = Clock::now();
      const workbook::Counts counts = problem.run_once(stage);
      const std::chrono::duration<double> seconds = Clock::now() - start;
      rates.push_back(static_cast<double>(counts.accesses) / seconds.count() * 1e-6);
    }
    std::sort(rates.begin(), rates.end());
    fmt::print("{:12} {:6.1f} million traced accesses a second (median of {})\n", stage.name,
               rates[kRuns / 2], kRuns);
  }
}
