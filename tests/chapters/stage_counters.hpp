/// \file
/// The counts of a chapter's stages against the hardware's.
#pragma once

#include <algorithm>
#include <string>

#include "common/cpu/hardware_counters.hpp"
#include "harness/run_stage.hpp"

/// Checks that the CPU device counts of every stage what Nsight Compute counted on an H200 at `shape`:
/// requests and sectors to the last one, wavefronts within the hardware's noise. Of the stages in `merged`
/// nvcc executes fewer loads from shared memory than the source has. Stages for a GPU alone are left out, and
/// those that `shape` does not suit.
inline void check_counters(const workbook::Chapter& chapter, const workbook::Shape& shape,
                           std::initializer_list<const char*> merged = {}) {
  const auto kernels = counted_on_gpu();
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, shape, *backend);
  for (int i = 0; i < chapter.stage_count; ++i) {
    const workbook::Stage& stage = chapter.stages[i];
    if (!stage.run || (stage.suits && !stage.suits(shape))) continue;
    INFO(stage.name);
    const std::string name = std::string(chapter.name) + "/" + stage.name;
    const workbook::Counts counts = problem.check(stage).counts;
    const auto hardware = kernels.at(name);
    CHECK(counts.kernels == sum(hardware, {"launches"}));
    CHECK(counts.load_requests == sum(hardware, {"load_requests"}));
    CHECK(counts.load_sectors == sum(hardware, {"load_sectors"}));
    CHECK(counts.store_requests == sum(hardware, {"store_requests"}));
    CHECK(counts.store_sectors == sum(hardware, {"store_sectors"}));
    CHECK_FALSE(counts.approximate);
    const bool is_merged = std::find(merged.begin(), merged.end(), std::string(stage.name)) != merged.end();
    check_wavefronts(counts, hardware, is_merged ? Wavefronts::kLoadsMerged : Wavefronts::kEqual);
  }
}
