/// \file
/// A CPU device whose counts of each instruction are kept.
#pragma once

#include <memory>
#include <vector>

#include "harness/backends/backend.hpp"

/// A device that logs instructions.
struct Logging {
  std::vector<workbook::LaunchCounts> launches;
  std::unique_ptr<workbook::Backend> backend =
      workbook::make_cpu_backend([&](const workbook::LaunchCounts& launch) { launches.push_back(launch); },
                                 workbook::Detail::kInstructions);
};
