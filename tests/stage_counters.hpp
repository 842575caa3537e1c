/// \file
/// The counts of a chapter's stages against the hardware's.
#pragma once

#include <algorithm>
#include <string>

#include "hardware_counters.hpp"
#include "run_stage.hpp"

/// Checks that the CPU device counts of every stage what Nsight Compute counted on an H200 at `shape`:
/// requests and sectors to the last one, wavefronts within the hardware's noise. Of the stages in `merged`
/// nvcc executes fewer loads from shared memory than the source has; those in `not_yet` have not been
/// counted. Stages for a GPU alone are left out, and those that `shape` does not suit.
inline void check_counters(const workbook::Chapter& chapter, const workbook::Shape& shape,
                           std::initializer_list<const char*> merged = {},
                           std::initializer_list<const char*> not_yet = {}) {
  const auto kernels = counted_on_gpu();
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, shape, *backend);
  for (int i = 0; i < chapter.stage_count; ++i) {
    const workbook::Stage& stage = chapter.stages[i];
    const auto is_in = [&](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), std::string(stage.name)) != names.end();
    };
    if (!stage.run || (stage.suits && !stage.suits(shape))) continue;
    INFO(stage.name);
    const std::string name = std::string(chapter.name) + "/" + stage.name;
    if (is_in(not_yet)) {
      CHECK_FALSE(kernels.contains(name));  // once counted, it is held to that
      continue;
    }
    const workbook::Counts counts = problem.check(stage).counts;
    const auto hardware = kernels.at(name);
    CHECK(counts.kernels == sum(hardware, {"launches"}));
    CHECK(counts.load_requests == sum(hardware, {"load_requests"}));
    CHECK(counts.load_sectors == sum(hardware, {"load_sectors"}));
    CHECK(counts.store_requests == sum(hardware, {"store_requests"}));
    CHECK(counts.store_sectors == sum(hardware, {"store_sectors"}));
    CHECK_FALSE(counts.approximate);
    check_wavefronts(counts, hardware, is_in(merged) ? Wavefronts::kLoadsMerged : Wavefronts::kEqual);
  }
}
