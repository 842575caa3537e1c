/// \file
/// The counts of a chapter's stages against the hardware's.
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "run_stage.hpp"

/// Checks that the CPU device counts of every stage what Nsight Compute counted on an H200 at `shape`:
/// requests and sectors to the last one, wavefronts within the hardware's noise. Stages for a GPU alone are
/// left out.
inline void check_counters(const workbook::Chapter& chapter, const workbook::Shape& shape) {
  std::ifstream file(SOURCE_DIR "/tests/data/counters_h200.json");
  const auto kernels = nlohmann::json::parse(file).at("kernels");
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, shape, *backend);
  for (int i = 0; i < chapter.stage_count; ++i) {
    const workbook::Stage& stage = chapter.stages[i];
    if (!stage.run || (stage.suits && !stage.suits(shape))) continue;
    INFO(stage.name);
    const workbook::Counts counts = problem.check(stage).counts;
    const auto hardware = kernels.at(std::string(chapter.name) + "/" + stage.name);
    CHECK(counts.kernels == hardware.at("launches").get<long long>());
    CHECK(counts.load_requests == hardware.at("load_requests").get<long long>());
    CHECK(counts.load_sectors == hardware.at("load_sectors").get<long long>());
    CHECK(counts.store_requests == hardware.at("store_requests").get<long long>());
    CHECK(counts.store_sectors == hardware.at("store_sectors").get<long long>());
    CHECK_FALSE(counts.approximate);
    const auto loads = hardware.at("shared_load_wavefronts").get<double>();
    const auto stores = hardware.at("shared_store_wavefronts").get<double>();
    CHECK(std::abs(static_cast<double>(counts.shared_load_wavefronts) - loads) <= 0.02 * loads);
    CHECK(std::abs(static_cast<double>(counts.shared_store_wavefronts) - stores) <= 0.02 * stores);
  }
}
