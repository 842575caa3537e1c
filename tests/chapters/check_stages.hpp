/// \file
/// Runs the stages of a chapter and compares each with its row of the ladder.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "harness/backends/backend.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"

/// Checks that every stage that is `wanted`, and that suits this device and the problem's `shape`, is right
/// and has no notes; then calls look(stage, result). A stage that is left out must say what it needs.
template <class Wanted, class Look>
void check_stages(const workbook::Chapter& chapter, workbook::Problem& problem, const workbook::Shape& shape,
                  Wanted wanted, Look look) {
  for (const workbook::Stage& stage : chapter.stages) {
    if (!wanted(stage)) continue;
    const workbook::StageResult result = problem.check(stage);
    INFO(stage.name << ", " << workbook::shape_text(shape, chapter.dims) << ": " << result.message);
    const bool suits = stage.run && (!stage.suits || stage.suits(shape));
    if (result.status == workbook::Status::kSkipped && (!suits || stage.capability > 0)) {
      CHECK(stage.needs != nullptr);
      continue;
    }
    CHECK(result.status == workbook::Status::kOk);
    CHECK(fmt::format("{}", fmt::join(cpu::notes().take(), "\n")) == "");
    // Efficiencies of at most 100 %. A GPU counts no bytes.
    CHECK(result.counts.load_bytes <= 32 * result.counts.load_sectors);
    CHECK(result.counts.store_bytes <= 32 * result.counts.store_sectors);
    look(stage, result);
  }
}

/// \throws std::logic_error when there is none of that name
inline workbook::Stage stage_named(const workbook::Chapter& chapter, const std::string& name) {
  for (const workbook::Stage& stage : chapter.stages)
    if (stage.name == name) return stage;
  throw std::logic_error(name);
}

inline bool every_stage(const workbook::Stage&) { return true; }
inline void no_more(const workbook::Stage&, const workbook::StageResult&) {}

/// Bytes by which arrays are off a multiple of 256.
using Offsets = std::map<std::string, std::size_t>;

/// Checks all stages at a shape on the CPU device.
template <class Look>
void check_at(const workbook::Chapter& chapter, const workbook::Shape& shape, const Offsets& offsets,
              Look look) {
  const auto backend = workbook::make_cpu_backend();
  workbook::Problem problem(chapter, shape, *backend, offsets);
  check_stages(chapter, problem, shape, every_stage, look);
}

/// Checks that the stage has read and written exactly the sectors that expected_traffic() says.
inline void check_traffic(const workbook::Chapter& chapter, const workbook::Stage& stage,
                          const workbook::StageResult& result, const workbook::Shape& shape) {
  const workbook::Traffic expected = workbook::expected_traffic(chapter, stage, shape);
  CHECK(32 * result.counts.load_sectors == expected.read_bytes);
  CHECK(32 * result.counts.store_sectors == expected.write_bytes);
  CHECK(32 * result.counts.peer_load_sectors == expected.peer_read_bytes);
  CHECK(32 * result.counts.peer_store_sectors == expected.peer_write_bytes);
}
