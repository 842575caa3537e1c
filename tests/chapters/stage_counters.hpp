/// \file
/// The counts of a chapter's stages against the hardware's.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "chapters/check_stages.hpp"
#include "tests/cpu_device/hardware_counters.hpp"

/// Checks that the CPU device's counts of every stage equal what Nsight Compute counted on an H200 at
/// `shape`: requests and sectors exactly, wavefronts within the hardware's noise. In the stages in `merged`
/// nvcc merges loads from shared memory, which must be marked, and of those in `left_out` it
/// leaves some out, or merges some that the CPU device does not recognise (docs/cpu_device.md), which is not
/// marked. Stages that need a GPU or another shape are left out. Results are not compared here: that takes as
/// long again.
inline void check_counters(const workbook::Chapter& chapter, const workbook::Shape& shape,
                           std::initializer_list<const char*> merged = {},
                           std::initializer_list<const char*> left_out = {}) {
  const auto kernels = counted_on_gpu();
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, shape, *backend);
  for (const workbook::Stage& stage : chapter.stages) {
    const workbook::Counts counts = problem.run_once(stage);
    if (counts.kernels == 0) continue;  // it does not suit
    INFO(stage.name);
    const auto found = kernels.find(std::string(chapter.name) + "/" + stage.name);
    if (found == kernels.end()) {
      // Somebody without an H200 has added a stage. Those that are committed have counters.
      if (std::getenv("CI")) FAIL_CHECK("there are no counters of an H200: docs/adding_a_chapter.md");
      WARN("not compared, since there are no counters of an H200: docs/adding_a_chapter.md");
      continue;
    }
    const auto& hardware = *found;
    CHECK(counts.kernels == sum(hardware, {"launches"}));
    CHECK(counts.load_requests == sum(hardware, {"load_requests"}));
    CHECK(counts.load_sectors == sum(hardware, {"load_sectors"}));
    CHECK(counts.store_requests == sum(hardware, {"store_requests"}));
    CHECK(counts.store_sectors == sum(hardware, {"store_sectors"}));
    CHECK_FALSE(counts.approximate);
    const auto is_in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), std::string(stage.name)) != names.end();
    };
    CHECK(counts.shared_loads_may_merge == is_in(merged));
    check_wavefronts(counts, hardware,
                     is_in(merged) || is_in(left_out) ? Wavefronts::kLoadsMerged : Wavefronts::kEqual);
  }
}
