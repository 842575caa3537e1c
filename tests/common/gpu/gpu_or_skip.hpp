/// \file
/// The GPU of a test that needs one.
#pragma once

#include <cstdlib>
#include <iostream>
#include <memory>

#include "harness/backends/backend.hpp"

constexpr int kSkipped = 4;  // SKIP_RETURN_CODE in tests/CMakeLists.txt

/// Without a GPU the test ends here, reported as skipped with the reason.
inline std::unique_ptr<workbook::GpuBackend> gpu_or_skip() {
  workbook::GpuOrReason found = workbook::make_gpu_backend();
  if (found.backend) return std::move(found.backend);
  std::cout << "SKIPPED: " << found.reason << std::endl;
  std::exit(kSkipped);
}
