/// \file
/// The tables that a chapter prints, and the JSON that it stores.
#pragma once

#include <string>
#include <vector>

#include "harness/options.hpp"
#include "harness/problem.hpp"

namespace workbook {

/// The results of a chapter at one shape.
struct ShapeResult {
  Shape shape;
  std::vector<StageResult> stages;
  std::vector<double> least_bytes;  ///< for each of `stages`: bytes that any implementation must move
  std::string why_no_clocks;        ///< why a GPU's clocks and power are not known; empty where they are
};

/// The results of one run of a chapter's program.
struct Report {
  const Chapter* chapter;
  DeviceInfo device;
  std::vector<ShapeResult> shapes;
};

/// The table of one shape: counts on the CPU device, times on a GPU, in bursts and perhaps sustained; below
/// it what is wrong, and notes, if there are any.
std::string table_text(const Report& report, const ShapeResult& result);

/// A lower bound for the time of each stage on the card of that name: its bytes divided by the card's
/// published bandwidth.
std::string model_text(const Report& report, const ShapeResult& result, const std::string& card);

/// Registers, spills, shared memory and occupancy of each kernel.
std::string resources_text(const Report& report, const ShapeResult& result);

/// An array with one object per shape; docs/json.md describes the fields.
std::string json_text(const Report& report);

/// The requests of one warp of each launch of a stage.
struct StageTrace {
  const Stage* stage;
  std::vector<LaunchCounts> launches;
};

/// One object; docs/json.md describes the fields.
std::string trace_text(const Chapter& chapter, const Shape& shape, const std::vector<StageTrace>& stages);

/// The commit that the program was built from, followed by "-dirty" if the tree had changes; "unknown"
/// outside git.
std::string build_commit();

}  // namespace workbook
