#include "harness/tables/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/tables/count_marks.hpp"
#include "harness/tables/derived_counts.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

// --- Values ---

const Chapter& chapter_of(const StageRow& row) { return *row.report.chapter; }
const Counts& counts_of(const StageRow& row) { return row.stage.counts; }

/// The bytes that a stage moves between GPUs.
double peer_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  const Traffic traffic = expected_traffic(chapter, stage, shape);
  return static_cast<double>(traffic.peer_read_bytes + traffic.peer_write_bytes);
}

std::optional<double> ratio(double dividend, double divisor) {
  return divisor == 0 ? std::nullopt : std::optional(dividend / divisor);
}

/// Bytes of that many sectors for each of the chapter's units.
double bytes_per_unit(const StageRow& row, long long Counts::*sectors) {
  return 32 * static_cast<double>(counts_of(row).*sectors) / units(chapter_of(row), row.shape.shape);
}

double requests_per_32(const StageRow& row, long long Counts::*requests) {
  return 32 * static_cast<double>(counts_of(row).*requests) / units(chapter_of(row), row.shape.shape);
}

double counted_bytes(const Counts& counts) {
  return static_cast<double>(read_bytes(counts) + written_bytes(counts));
}

/// The speed-up that the bytes predict: those of the stage that it is compared with, divided by its own. Of
/// several GPUs, the bytes between them: NVLink is slower than memory.
std::optional<double> predicted_speed_up(const StageRow& row) {
  const Chapter& chapter = chapter_of(row);
  const auto bytes = chapter.gpus ? peer_bytes : memory_bytes;
  return ratio(bytes(chapter, base_of(chapter, *row.stage.stage), row.shape.shape),
               bytes(chapter, *row.stage.stage, row.shape.shape));
}

double least_bytes(const StageRow& row) {
  return row.shape.least_bytes[static_cast<std::size_t>(&row.stage - row.shape.stages.data())];
}

std::optional<double> median_of(const std::optional<Ratio>& of) {
  return of ? std::optional(of->median) : std::nullopt;
}

/// The distance of the quartiles, as a share of the median.
std::optional<double> spread(const Timing& timing) { return ratio(timing.p75 - timing.p25, timing.median); }

const Timing& sustained(const StageRow& row) { return row.stage.time.sustained; }

std::optional<double> clock(const StageRow& row, double Clocks::*value) {
  const std::optional<Clocks>& clocks = row.stage.time.sustained_clocks;
  return clocks ? std::optional((*clocks).*value) : std::nullopt;
}

// --- Texts ---

/// Marks numbers in a table, and explains the marks that it has used.
struct Marks {
  CountMarks counts;
  bool no_difference = false, above_ceiling = false;

  std::string legend() const {
    return std::string(no_difference ? "~ no difference: the 95 % interval of the ratio holds 1\n" : "") +
           (above_ceiling ? "! faster than its ceiling, which is too low\n" : "") + counts.legend();
  }
};

template <int kDigits>
std::string fixed(double value, const StageRow&, Marks&) {
  return fmt::format("{:.{}f}", value, kDigits);
}
/// The same of what is counted in sectors or requests.
template <int kDigits>
std::string of_sectors(double value, const StageRow& row, Marks& marks) {
  return marks.counts.sectors(counts_of(row), fmt::format("{:.{}f}", value, kDigits));
}
std::string share(double value, const StageRow&, Marks&) { return percent(value); }
std::string times(double value, const StageRow&, Marks&) { return fmt::format("{:.2f}x", value); }

/// Microseconds in at most seven characters, where they are less than ten seconds.
std::string us_text(double us, const StageRow&, Marks&) {
  return fmt::format("{:.{}f}", us, us < 1000 ? 2 : us < 1e5 ? 1 : 0);
}
std::string spread_text(double value, const StageRow&, Marks&) { return fmt::format("{:.1f}%", 100 * value); }

/// "1.52x", or "~1.00x" where the samples show no difference.
std::string measured(const StageRow& row, Timing ContenderTiming::*regime, Marks& marks) {
  const Ratio found = *speed_up(row, regime);
  const bool of_itself = &base_of(chapter_of(row), *row.stage.stage) == row.stage.stage;
  const bool unknown = !of_itself && shows_no_difference(found);
  marks.no_difference |= unknown;
  return fmt::format("{}{:.2f}x", unknown ? "~" : "", found.median);
}

/// The error: for 16-bit outputs in units of the last place, "0.5ulp", for others relative to the size of the
/// terms.
std::string error_text(double error, const StageRow& row, Marks&) {
  if (error == 0) return "0";
  if (!row.stage.last_places) return fmt::format("{:.0e}", error);
  return fmt::format("{:.{}f}ulp", *row.stage.last_places, *row.stage.last_places < 9.95 ? 1 : 0);
}

/// The reason why clocks were low: power, heat, or both.
std::string limits_text(double, const StageRow& row, Marks&) {
  bool power = false, heat = false;
  for (const std::string& reason : row.stage.time.sustained_clocks->throttle_reasons) {
    power |= reason.find("power") != std::string::npos;
    heat |= reason.find("thermal") != std::string::npos;
  }
  return power && heat ? "both" : power ? "power" : heat ? "heat" : "-";
}

// --- The columns ---

/// What bounds a chapter's stages, on which its columns depend.
enum BoundBy : unsigned {
  kMemory = 1,
  kArithmetic = 2,
  kLinks = 4,
  kOneGpu = kMemory | kArithmetic,
  kAny = 7
};

BoundBy bound_of(const Chapter& chapter) {
  return chapter.gpus ? kLinks : chapter.stages[0].flops ? kArithmetic : kMemory;
}

struct Column {
  StageTable table;
  unsigned bounds;    ///< of the chapters whose tables have it
  const char* name;   ///< in JSON (docs/json.md)
  const char* group;  ///< above the heading, for this column and those before it; "{}" is the chapter's unit
  const char* heading;
  std::optional<double> (*value)(const StageRow&);  ///< nothing is shown as "-"
  std::string (*text)(double value, const StageRow&, Marks&);
};

using Row = StageRow;
using Number = std::optional<double>;

// In the order of the tables.
constexpr Column kColumns[] = {
    {StageTable::kCounted, kAny, "kernels", "", "kernels",
     [](const Row& row) -> Number { return counts_of(row).kernels; }, fixed<0>},
    {StageTable::kCounted, kAny, "read", "", "read",
     [](const Row& row) -> Number { return bytes_per_unit(row, &Counts::load_sectors); }, of_sectors<1>},
    {StageTable::kCounted, kAny, "write", "bytes/{}", "write",
     [](const Row& row) -> Number { return bytes_per_unit(row, &Counts::store_sectors); }, of_sectors<1>},
    {StageTable::kCounted, kLinks, "peer_read", "", "read",
     [](const Row& row) -> Number { return bytes_per_unit(row, &Counts::peer_load_sectors); }, of_sectors<2>},
    {StageTable::kCounted, kLinks, "peer_write", "over NVLink", "write",
     [](const Row& row) -> Number { return bytes_per_unit(row, &Counts::peer_store_sectors); },
     of_sectors<2>},
    {StageTable::kCounted, kOneGpu, "times_least", "times", "least",
     [](const Row& row) -> Number { return ratio(counted_bytes(counts_of(row)), least_bytes(row)); },
     [](double value, const Row&, Marks&) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 1); }},
    {StageTable::kCounted, kOneGpu, "load_efficiency", "", "load",
     [](const Row& row) { return load_efficiency(counts_of(row)); }, share},
    {StageTable::kCounted, kOneGpu, "store_efficiency", "efficiency", "store",
     [](const Row& row) { return store_efficiency(counts_of(row)); }, share},
    {StageTable::kPage, kAny, "load_requests_per_32", "", "load",
     [](const Row& row) -> Number { return requests_per_32(row, &Counts::load_requests); }, of_sectors<2>},
    {StageTable::kPage, kAny, "store_requests_per_32", "requests/32 el.", "store",
     [](const Row& row) -> Number { return requests_per_32(row, &Counts::store_requests); }, of_sectors<2>},
    {StageTable::kCounted, kAny, "waves", "shared", "waves",
     [](const Row& row) {
       return ratio(static_cast<double>(shared_wavefronts(counts_of(row))),
                    static_cast<double>(counts_of(row).shared_requests));
     },
     [](double value, const Row& row, Marks& marks) {
       return marks.counts.wavefronts(counts_of(row), fmt::format("{:.2f}", value));
     }},
    {StageTable::kCounted, kAny, "error", "", "error",
     [](const Row& row) -> Number { return row.stage.error; }, error_text},
    {StageTable::kCounted, kArithmetic, "flop_per_byte", "FLOP", "/byte",
     [](const Row& row) {
       return ratio(row.stage.stage->flops(row.shape.shape), counted_bytes(counts_of(row)));
     },
     fixed<2>},
    {StageTable::kCounted, kMemory | kLinks, "predicted_speed_up", "predicted", "speedup", predicted_speed_up,
     times},
    {StageTable::kPage, kArithmetic, "predicted_speed_up", "predicted", "speedup", predicted_speed_up, times},

    {StageTable::kBursts, kAny, "us", "", "us",
     [](const Row& row) -> Number { return row.stage.time.cold.median; }, us_text},
    {StageTable::kBursts, kAny, "spread", "in bursts", "spread",
     [](const Row& row) { return spread(row.stage.time.cold); }, spread_text},
    {StageTable::kBursts, kOneGpu, "gbytes_per_s", "", "GB/s",
     [](const Row& row) -> Number { return gbytes_per_s(row, row.stage.time.cold.median); }, fixed<0>},
    {StageTable::kBursts, kOneGpu, "share_of_ceiling", "", "ceiling",
     [](const Row& row) -> Number { return fraction_of_ceiling(row.stage); },
     [](double value, const Row& row, Marks& marks) {
       marks.above_ceiling |= row.stage.above_ceiling;
       return row.stage.above_ceiling ? "100%!" : percent(value);
     }},
    {StageTable::kBursts, kOneGpu, "share_of_pins", "share of", "pins",
     [](const Row& row) {
       return ratio(gbytes_per_s(row, row.stage.time.cold.median), row.report.device.pin_gbytes_per_s);
     },
     share},
    {StageTable::kBursts, kLinks, "link_gbytes_per_s", "", "GB/s",
     [](const Row& row) -> Number { return link_gbytes_per_s(row, row.stage.time.cold.median); }, fixed<0>},
    {StageTable::kBursts, kLinks, "share_of_links", "over NVLink", "share",
     [](const Row& row) {
       return ratio(link_gbytes_per_s(row, row.stage.time.cold.median), row.report.device.link_gbytes_per_s);
     },
     share},
    {StageTable::kBursts, kArithmetic, "speed_up", "", "speed-up",
     [](const Row& row) { return median_of(speed_up(row, &ContenderTiming::cold)); },
     [](double, const Row& row, Marks& marks) { return measured(row, &ContenderTiming::cold, marks); }},
    {StageTable::kBursts, kArithmetic, "tflops", "", "TFLOP/s",
     [](const Row& row) -> Number { return tflops(row, row.stage.time.cold.median); }, fixed<1>},
    {StageTable::kBursts, kMemory | kLinks, "speed_up", "", "time",
     [](const Row& row) { return median_of(speed_up(row, &ContenderTiming::cold)); },
     [](double, const Row& row, Marks& marks) { return measured(row, &ContenderTiming::cold, marks); }},
    {StageTable::kBursts, kMemory | kLinks, "predicted_speed_up", "speed-up by", "bytes", predicted_speed_up,
     times},
    {StageTable::kBursts, kAny, "error", "", "error",
     [](const Row& row) -> Number { return row.stage.error; }, error_text},

    {StageTable::kSustained, kAny, "sustained_us", "", "us",
     [](const Row& row) -> Number { return sustained(row).median; }, us_text},
    {StageTable::kSustained, kAny, "sustained_spread", "sustained", "spread",
     [](const Row& row) { return spread(sustained(row)); }, spread_text},
    {StageTable::kSustained, kArithmetic, "sustained_tflops", "", "TFLOP/s",
     [](const Row& row) -> Number { return tflops(row, sustained(row).median); }, fixed<1>},
    {StageTable::kSustained, kMemory | kLinks, "sustained_gbytes_per_s", "", "GB/s",
     [](const Row& row) -> Number { return gbytes_per_s(row, sustained(row).median); }, fixed<0>},
    {StageTable::kSustained, kAny, "sustained_speed_up", "", "speed-up",
     [](const Row& row) { return median_of(speed_up(row, &ContenderTiming::sustained)); },
     [](double, const Row& row, Marks& marks) { return measured(row, &ContenderTiming::sustained, marks); }},
    {StageTable::kSustained, kAny, "sm_clock_mhz", "", "SM",
     [](const Row& row) { return clock(row, &Clocks::sm_clock_mhz); }, fixed<0>},
    {StageTable::kSustained, kAny, "memory_clock_mhz", "clocks, MHz", "memory",
     [](const Row& row) { return clock(row, &Clocks::memory_clock_mhz); }, fixed<0>},
    {StageTable::kSustained, kAny, "power_w", "", "W",
     [](const Row& row) { return clock(row, &Clocks::power_w); }, fixed<0>},
    {StageTable::kSustained, kAny, "limit", "", "limit",
     [](const Row& row) { return clock(row, &Clocks::power_w); }, limits_text},
};

/// The columns of a table of the chapter.
std::vector<const Column*> columns_of(StageTable table, const Chapter& chapter) {
  std::vector<const Column*> found;
  for (const Column& column : kColumns)
    if (column.table == table && column.bounds & bound_of(chapter)) found.push_back(&column);
  return found;
}

std::string group_text(const Column& column, const Chapter& chapter) {
  return fmt::format(fmt::runtime(column.group), chapter.unit);
}

std::string cell(const Column& column, const StageRow& row, Marks& marks) {
  const std::optional<double> value = column.value(row);
  return value ? column.text(*value, row, marks) : "-";
}

/// The text in place of a table's numbers; empty where there are numbers.
std::string remark(StageTable table, const StageResult& stage) {
  if (stage.status == Status::kWrong) return red("WRONG: see below");
  if (stage.status != Status::kOk || (table != StageTable::kCounted && !stage.timed)) return stage.message;
  if (table == StageTable::kSustained && stage.time.sustained.samples.empty())
    return "too few bytes: its inputs would stay in L2";
  return "";
}

/// Whether the device's columns have numbers of the stage.
bool has_numbers(const Column& column, const StageRow& row) {
  const bool counts = row.report.device.kind == DeviceKind::kCpu,
             is_counted = column.table == StageTable::kCounted || column.table == StageTable::kPage;
  const StageTable table = is_counted ? StageTable::kCounted : column.table;
  return counts == is_counted && column.bounds & bound_of(chapter_of(row)) &&
         row.stage.status == Status::kOk && remark(table, row.stage).empty();
}

}  // namespace

std::string stage_table(StageTable table, const Report& report, const ShapeResult& result) {
  const std::vector<const Column*> columns = columns_of(table, *report.chapter);
  std::vector<std::string> groups = {""}, headings = {"stage"};
  for (const Column* column : columns) {
    groups.push_back(group_text(*column, *report.chapter));
    headings.push_back(column->heading);
  }
  Marks marks;
  Table rows(groups, headings);
  std::vector<std::pair<std::string, Counts>> counts;  // of atomics
  for (const StageResult& stage : result.stages) {
    if (table == StageTable::kSustained && !stage.timed) continue;
    if (const std::string instead = remark(table, stage); !instead.empty() || stage.status != Status::kOk) {
      rows.add({stage.stage->name}, instead);
      continue;
    }
    std::vector<std::string> row = {stage.stage->name};
    for (const Column* column : columns) row.push_back(cell(*column, {report, result, stage}, marks));
    rows.add(std::move(row));
    if (table == StageTable::kCounted && !report.chapter->gpus)
      counts.emplace_back(stage.stage->name, stage.counts);
  }
  return rows.text() + atomics_text(counts) + marks.legend();
}

ordered_json shown_json(const StageRow& row) {
  ordered_json shown = ordered_json::object();
  Marks marks;
  for (const Column& column : kColumns) {
    if (!has_numbers(column, row)) continue;
    if (const std::optional<double> value = column.value(row))
      shown[column.name] = {{"value", *value}, {"text", column.text(*value, row, marks)}};
  }
  return shown;
}

ordered_json headings_json(const Report& report) {
  ordered_json headings = ordered_json::array();
  for (const Column& column : kColumns)
    if (column.bounds & bound_of(*report.chapter))
      headings.push_back({{"name", column.name},
                          {"group", group_text(column, *report.chapter)},
                          {"heading", column.heading}});
  return headings;
}

double units(const Chapter& chapter, const Shape& shape) {
  if (chapter.units) return static_cast<double>(chapter.units(shape));
  long long most = 1;
  for (const Array* array : chapter.arrays)
    if (array->role == Role::kOutput) most = std::max(most, array->count(shape));
  return static_cast<double>(most * gpus_of(chapter, shape));
}

const Stage& base_of(const Chapter& chapter, const Stage& stage) {
  if (!stage.against) return chapter.stages[0];
  for (const Stage& other : chapter.stages)
    if (std::string_view(other.name) == stage.against) return other;
  throw std::logic_error(fmt::format("{}: no stage {}", stage.name, stage.against));
}

double memory_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  return static_cast<double>(expected_traffic(chapter, stage, shape).memory_bytes());
}

std::optional<Ratio> speed_up(const StageRow& row, Timing ContenderTiming::*regime) {
  const Stage& base = base_of(chapter_of(row), *row.stage.stage);
  for (const StageResult& other : row.shape.stages)
    if (other.stage == &base && other.timed && row.stage.timed && !(other.time.*regime).samples.empty() &&
        !(row.stage.time.*regime).samples.empty())
      return paired_ratio((other.time.*regime).samples, (row.stage.time.*regime).samples);
  return std::nullopt;
}

double tflops(const StageRow& row, double us) { return row.stage.stage->flops(row.shape.shape) / us * 1e-6; }

double gbytes_per_s(const StageRow& row, double us) {
  const Traffic traffic = dram_traffic(chapter_of(row), *row.stage.stage, row.shape.shape);
  return static_cast<double>(traffic.memory_bytes()) / us * 1e-3;
}

double link_gbytes_per_s(const StageRow& row, double us) {
  const Chapter& chapter = chapter_of(row);
  return peer_bytes(chapter, *row.stage.stage, row.shape.shape) / gpus_of(chapter, row.shape.shape) / us *
         1e-3;
}

double fraction_of_ceiling(const StageResult& result) {
  return result.ceiling.median / result.time.cold.median;
}

}  // namespace workbook
