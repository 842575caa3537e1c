/// \file
/// What tables show of a stage. Each number has one row here: its place, its heading, its value and its text.
/// The terminal's tables, the JSON, predictions and pages read it from here, so a new column is a new row.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "gpu/statistics.hpp"
#include "harness/tables/report.hpp"

namespace workbook {

/// The tables of a chapter at one shape.
enum class StageTable {
  kCounted,    ///< on the CPU device
  kBursts,     ///< times on a GPU
  kSustained,  ///< times on a GPU that is busy for seconds
  kPage,       ///< of the CPU device, for pages alone
};

/// A stage in a table.
struct StageRow {
  const Report& report;
  const ShapeResult& shape;
  const StageResult& stage;
};

/// The lines of a table, and below it what its marks mean. Stages that are wrong or were skipped have a
/// remark in place of numbers.
std::string stage_table(StageTable table, const Report& report, const ShapeResult& result);

/// The values and texts of a stage's columns by name: {"read": {"value": 12.0, "text": "12.0"}}, of all of
/// the device's tables, whatever was printed. Columns without a number are left out.
nlohmann::ordered_json shown_json(const StageRow& row);
/// Their headings: [{"name": "read", "group": "bytes/element", "heading": "read"}, ...], in their order.
nlohmann::ordered_json headings_json(const Report& report);

// --- Of which they are made ---

/// How many of Chapter::unit there are.
double units(const Chapter& chapter, const Shape& shape);
/// The stage that `stage` is compared with for its speed-up.
const Stage& base_of(const Chapter& chapter, const Stage& stage);
/// The bytes that a stage moves to and from memory, by its formula.
double memory_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape);
/// The speed-up over the stage that it is compared with, of the samples in one regime: ContenderTiming's
/// `cold` or `sustained`. Nothing where one of the two was not timed.
std::optional<Ratio> speed_up(const StageRow& row, Timing ContenderTiming::*regime);
/// The rate of a stage that took `us`: TFLOP/s, where its row has `flops`; GB/s of the bytes that DRAM must
/// deliver and take; GB/s of the bytes that leave each of several GPUs.
double tflops(const StageRow& row, double us);
double gbytes_per_s(const StageRow& row, double us);
double link_gbytes_per_s(const StageRow& row, double us);
/// The time of the ceiling, divided by that of the stage.
double fraction_of_ceiling(const StageResult& result);

}  // namespace workbook
