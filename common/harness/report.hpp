/// \file
/// The tables that a chapter prints, and the JSON that it stores.
#pragma once

#include <string>
#include <vector>

#include "harness/options.hpp"
#include "harness/run_stage.hpp"

namespace workbook {

/// All that was found out about a chapter at one shape.
struct ShapeResult {
  Shape shape;
  std::vector<StageResult> stages;
  std::vector<double> least_bytes;  ///< by stage: what any implementation of its output must move
};

struct Report {
  const Chapter* chapter;
  DeviceInfo device;
  std::vector<ShapeResult> shapes;
};

/// The table of one shape: counts on the CPU device, times on a GPU; then what is wrong, if anything.
std::string table_text(const Report& report, const ShapeResult& result);

/// Lower bounds on the time of each stage on a named card: its bytes over the card's published bandwidth.
std::string model_text(const Report& report, const ShapeResult& result, const std::string& card);

/// Registers, spills, shared memory and occupancy of each kernel.
std::string resources_text(const Report& report, const ShapeResult& result);

/// An array of one object for each shape; the fields are described in docs/json.md.
std::string json_text(const Report& report);

/// The requests of one warp of each launch of a stage.
struct StageTrace {
  const Stage* stage;
  std::vector<LaunchCounts> launches;
};

/// One object; the fields are described in docs/json.md.
std::string trace_text(const Chapter& chapter, const Shape& shape, const std::vector<StageTrace>& stages);

/// The commit that the program was built from, with "-dirty" behind it when the tree had changes; "unknown"
/// outside git.
std::string build_commit();

}  // namespace workbook
