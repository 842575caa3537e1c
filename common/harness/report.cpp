#include "harness/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cpu/function_name.hpp"
#include "gpu/statistics.hpp"
#include "harness/clocks_json.hpp"
#include "harness/count_marks.hpp"
#include "harness/derived_counts.hpp"
#include "harness/model.hpp"
#include "harness/terminal.hpp"

namespace workbook {
namespace {

/// How many of Chapter::unit there are.
double units(const Chapter& chapter, const Shape& shape) {
  if (chapter.units) return static_cast<double>(chapter.units(shape));
  long long most = 1;
  for (int i = 0; i < chapter.array_count; ++i)
    if (chapter.arrays[i].role == Role::kOutput) most = std::max(most, chapter.arrays[i].count(shape));
  return static_cast<double>(most * gpus_of(chapter, shape));
}

double memory_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  return static_cast<double>(expected_traffic(chapter, stage, shape).memory_bytes());
}

double dram_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  return static_cast<double>(dram_traffic(chapter, stage, shape).memory_bytes());
}

/// The rate of a stage that took `us` and whose table entry has `flops`, in TFLOP/s.
double tflops(const Stage& stage, const Shape& shape, double us) { return stage.flops(shape) / us * 1e-6; }

/// The rate of a stage that took `us`, in GB/s of the bytes that DRAM must deliver and take.
double gbytes_per_s(const Chapter& chapter, const Stage& stage, const Shape& shape, double us) {
  return dram_bytes(chapter, stage, shape) / us * 1e-3;
}

/// The bytes that a stage moves between GPUs.
double peer_bytes(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  const Traffic traffic = expected_traffic(chapter, stage, shape);
  return static_cast<double>(traffic.peer_read_bytes + traffic.peer_write_bytes);
}

/// The rate of a stage that took `us`, in GB/s of the bytes that leave each GPU; the same number comes in.
double link_gbytes_per_s(const Chapter& chapter, const Stage& stage, const Shape& shape, double us) {
  return peer_bytes(chapter, stage, shape) / gpus_of(chapter, shape) / us * 1e-3;
}

/// The time of the ceiling, divided by that of the stage.
double fraction_of_ceiling(const StageResult& result) {
  return result.ceiling.median / result.time.cold.median;
}

/// The stage that `stage` is compared with for its speed-up.
const Stage& base_of(const Chapter& chapter, const Stage& stage) {
  const Stage* const end = chapter.stages + chapter.stage_count;
  const Stage* const base =
      stage.against
          ? std::find_if(chapter.stages, end,
                         [&](const Stage& other) { return std::string(other.name) == stage.against; })
          : chapter.stages;
  if (base == end) throw std::logic_error(fmt::format("{}: no stage {}", stage.name, stage.against));
  return *base;
}

/// The speed-up that the bytes predict: those of the stage that it is compared with, divided by its own. Of
/// several GPUs, the bytes between them: NVLink is slower than memory.
std::string predicted_speed_up(const Report& report, const ShapeResult& result, const StageResult& stage) {
  const auto bytes = report.chapter->gpus ? peer_bytes : memory_bytes;
  const double base = bytes(*report.chapter, base_of(*report.chapter, *stage.stage), result.shape);
  const double own = bytes(*report.chapter, *stage.stage, result.shape);
  return own == 0 ? "-" : fmt::format("{:.2f}x", base / own);
}

/// The error: for 16-bit outputs in units of the last place, "0.5ulp", for others relative to the size of the
/// terms.
std::string error_text(const StageResult& result) {
  if (result.error == 0) return "0";
  if (!result.last_places) return fmt::format("{:.0e}", result.error);
  return fmt::format("{:.{}f}ulp", *result.last_places, *result.last_places < 9.95 ? 1 : 0);
}

/// The text in place of a table's numbers for a stage that is wrong or was skipped.
std::string remark(const StageResult& result) {
  return result.status == Status::kWrong ? red("WRONG: see below") : result.message;
}

/// One line, or two where one would be longer than 80 columns.
std::string heading(const Report& report, const ShapeResult& result, const std::string& device) {
  const Chapter& chapter = *report.chapter;
  std::string what = fmt::format("{}: {}, {} = {}", chapter.name, chapter.formula, chapter.dims,
                                 shape_text(result.shape, chapter.dims));
  if (chapter.has_dropout) what += fmt::format(", p = {}", chapter.dropout.p);
  const char* between = what.size() + device.size() + 2 > 80 ? ",\n" : ", ";
  return bold(what + between + device) + "\n\n";
}

/// The wrapped text, whose first word is printed in red.
std::string wrong_text(const std::string& text) {
  std::string out = indented(text, 0);
  const std::string first = text.substr(0, text.find(' '));
  return out.replace(0, first.size(), red(first));
}

/// The notes of each stage, as "02_fused: note: ...".
std::string notes_text(const ShapeResult& result) {
  std::string out;
  for (const StageResult& stage : result.stages)
    for (const std::string& note : stage.notes)
      out += fmt::format("\n{}", indented(fmt::format("{}: {}", stage.stage->name, note), 0));
  return out;
}

std::string what_is_wrong(const ShapeResult& result) {
  std::string out;
  for (const StageResult& stage : result.stages)
    if (stage.status == Status::kWrong)
      out += "\n" + wrong_text(fmt::format("WRONG {}: {}", stage.stage->name, stage.message));
  return out;
}

/// The speed-up over the stage that it is compared with, of the samples in one regime: ContenderTiming's
/// `cold` or `sustained`. Nothing where one of the two was not timed.
std::optional<Ratio> speed_up(const Report& report, const ShapeResult& result, const StageResult& stage,
                              Timing ContenderTiming::*regime) {
  const Stage& base = base_of(*report.chapter, *stage.stage);
  for (const StageResult& other : result.stages)
    if (other.stage == &base && other.timed && stage.timed && !(other.time.*regime).samples.empty() &&
        !(stage.time.*regime).samples.empty())
      return paired_ratio((other.time.*regime).samples, (stage.time.*regime).samples);
  return std::nullopt;
}

/// Marks times in a table, and explains the marks that it has used.
class TimeMarks {
 public:
  /// "1.52x", or "~1.00x" where the samples show no difference.
  std::string speed_up(const std::optional<Ratio>& ratio, bool of_itself) {
    if (!ratio) return "-";
    const bool unknown = !of_itself && shows_no_difference(*ratio);
    no_difference_ |= unknown;
    return fmt::format("{}{:.2f}x", unknown ? "~" : "", ratio->median);
  }
  /// "98%", or "100%!" where the ceiling is too low.
  std::string ceiling(const StageResult& stage) {
    above_ceiling_ |= stage.above_ceiling;
    return stage.above_ceiling ? "100%!" : percent(fraction_of_ceiling(stage));
  }
  std::string legend() const {
    return std::string(no_difference_ ? "~ no difference: the 95 % interval of the ratio holds 1\n" : "") +
           (above_ceiling_ ? "! faster than its ceiling, which is too low\n" : "");
  }

 private:
  bool no_difference_ = false, above_ceiling_ = false;
};

/// Of several GPUs, for each of them on the average. What goes over NVLink is part of what is read and
/// written.
std::string counted_table_of_gpus(const Report& report, const ShapeResult& result) {
  const double n = units(*report.chapter, result.shape);
  CountMarks marks;
  const std::string bytes = fmt::format("bytes/{}", report.chapter->unit);
  Table table({"", "", "", bytes, "", "over NVLink", "shared", "", "predicted"},
              {"stage", "kernels", "read", "write", "read", "write", "waves", "error", "speedup"});
  for (const StageResult& stage : result.stages) {
    if (stage.status != Status::kOk) {
      table.add({stage.stage->name}, remark(stage));
      continue;
    }
    const Counts& c = stage.counts;
    const auto per_unit = [&](long long sectors, int digits) {
      return marks.sectors(c, fmt::format("{:.{}f}", 32 * static_cast<double>(sectors) / n, digits));
    };
    const auto wavefronts = static_cast<double>(shared_wavefronts(c));
    table.add(
        {stage.stage->name, std::to_string(c.kernels), per_unit(c.load_sectors, 1),
         per_unit(c.store_sectors, 1), per_unit(c.peer_load_sectors, 2), per_unit(c.peer_store_sectors, 2),
         c.shared_requests ? fmt::format("{:.2f}", wavefronts / static_cast<double>(c.shared_requests)) : "-",
         error_text(stage), predicted_speed_up(report, result, stage)});
  }
  return table.text() + marks.legend();
}

std::string counted_table(const Report& report, const ShapeResult& result) {
  if (report.chapter->gpus) return counted_table_of_gpus(report, result);
  const double n = units(*report.chapter, result.shape);
  const bool arithmetic = report.chapter->stages[0].flops;
  CountMarks marks;
  std::vector<std::pair<std::string, Counts>> counts;
  const std::string bytes = fmt::format("bytes/{}", report.chapter->unit);
  Table table({"", "", "", bytes, "times", "", "efficiency", "shared", "", arithmetic ? "FLOP" : "predicted"},
              {"stage", "kernels", "read", "write", "least", "load", "store", "waves", "error",
               arithmetic ? "/byte" : "speedup"});
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const StageResult& stage = result.stages[i];
    if (stage.status != Status::kOk) {
      table.add({stage.stage->name}, remark(stage));
      continue;
    }
    const Counts& c = stage.counts;
    const auto read = static_cast<double>(read_bytes(c)), write = static_cast<double>(written_bytes(c));
    counts.emplace_back(stage.stage->name, c);
    const auto wavefronts = static_cast<double>(shared_wavefronts(c));
    const double times = (read + write) / result.least_bytes[i];
    table.add(
        {stage.stage->name, std::to_string(c.kernels), marks.sectors(c, fmt::format("{:.1f}", read / n)),
         marks.sectors(c, fmt::format("{:.1f}", write / n)),
         fmt::format("{:.{}f}", times, times < 100 ? 2 : 1), load_efficiency(c), store_efficiency(c),
         c.shared_requests
             ? marks.wavefronts(c, fmt::format("{:.2f}", wavefronts / static_cast<double>(c.shared_requests)))
             : "-",
         error_text(stage),
         arithmetic ? fmt::format("{:.2f}", stage.stage->flops(result.shape) / (read + write))
                    : predicted_speed_up(report, result, stage)});
  }
  return table.text() + atomics_text(counts) + marks.legend();
}

/// Microseconds in at most seven characters, where they are less than ten seconds.
std::string us_text(double us) { return fmt::format("{:.{}f}", us, us < 1000 ? 2 : us < 1e5 ? 1 : 0); }

/// The distance of the quartiles, as a share of the median: "0.3%".
std::string spread_text(const Timing& timing) {
  return fmt::format("{:.1f}%", 100 * (timing.p75 - timing.p25) / timing.median);
}

bool is_own_base(const Report& report, const StageResult& stage) {
  return &base_of(*report.chapter, *stage.stage) == stage.stage;
}

/// The same of several GPUs.
std::string table_of_gpus(const Report& report, const ShapeResult& result) {
  TimeMarks marks;
  Table table({"", "", "in bursts", "over NVLink", "", "speed-up by", "", ""},
              {"stage", "us", "spread", "GB/s", "share", "time", "bytes", "error"});
  for (const StageResult& stage : result.stages) {
    if (stage.status != Status::kOk || !stage.timed) {
      table.add({stage.stage->name}, remark(stage));
      continue;
    }
    const double us = stage.time.cold.median;
    const double rate = link_gbytes_per_s(*report.chapter, *stage.stage, result.shape, us);
    const double link = report.device.link_gbytes_per_s;
    table.add(
        {stage.stage->name, us_text(us), spread_text(stage.time.cold), fmt::format("{:.0f}", rate),
         link > 0 ? percent(rate / link) : "-",
         marks.speed_up(speed_up(report, result, stage, &ContenderTiming::cold), is_own_base(report, stage)),
         predicted_speed_up(report, result, stage), error_text(stage)});
  }
  return table.text() + marks.legend();
}

std::string burst_table(const Report& report, const ShapeResult& result) {
  if (report.chapter->gpus) return table_of_gpus(report, result);
  const bool arithmetic = report.chapter->stages[0].flops;
  TimeMarks marks;
  Table table({"", "", "in bursts", "", "", "share of", "", arithmetic ? "" : "speed-up by", ""},
              {"stage", "us", "spread", "GB/s", "ceiling", "pins", arithmetic ? "speed-up" : "time",
               arithmetic ? "TFLOP/s" : "bytes", "error"});
  for (const StageResult& stage : result.stages) {
    if (stage.status != Status::kOk || !stage.timed) {
      table.add({stage.stage->name}, remark(stage));
      continue;
    }
    const double us = stage.time.cold.median;
    const double rate = gbytes_per_s(*report.chapter, *stage.stage, result.shape, us);
    table.add(
        {stage.stage->name, us_text(us), spread_text(stage.time.cold), fmt::format("{:.0f}", rate),
         marks.ceiling(stage), percent(rate / report.device.pin_gbytes_per_s),
         marks.speed_up(speed_up(report, result, stage, &ContenderTiming::cold), is_own_base(report, stage)),
         arithmetic ? fmt::format("{:.1f}", tflops(*stage.stage, result.shape, us))
                    : predicted_speed_up(report, result, stage),
         error_text(stage)});
  }
  return table.text() + marks.legend();
}

/// The reason why clocks were low: power, heat, or both.
std::string limits_text(const Clocks& clocks) {
  bool power = false, heat = false;
  for (const std::string& reason : clocks.throttle_reasons) {
    power |= reason.find("power") != std::string::npos;
    heat |= reason.find("thermal") != std::string::npos;
  }
  return power && heat ? "both" : power ? "power" : heat ? "heat" : "-";
}

std::string sustained_table(const Report& report, const ShapeResult& result) {
  const bool arithmetic = report.chapter->stages[0].flops;
  TimeMarks marks;
  Table table(
      {"", "", "sustained", "", "", "", "clocks, MHz", "", ""},
      {"stage", "us", "spread", arithmetic ? "TFLOP/s" : "GB/s", "speed-up", "SM", "memory", "W", "limit"});
  for (const StageResult& stage : result.stages) {
    if (stage.status != Status::kOk || !stage.timed) continue;
    const Timing& time = stage.time.sustained;
    if (time.samples.empty()) {
      table.add({stage.stage->name}, "too few bytes: its inputs would stay in L2");
      continue;
    }
    const double rate = arithmetic ? tflops(*stage.stage, result.shape, time.median)
                                   : gbytes_per_s(*report.chapter, *stage.stage, result.shape, time.median);
    std::vector<std::string> row = {
        stage.stage->name, us_text(time.median), spread_text(time),
        fmt::format("{:.{}f}", rate, arithmetic ? 1 : 0),
        marks.speed_up(speed_up(report, result, stage, &ContenderTiming::sustained),
                       is_own_base(report, stage))};
    const std::optional<Clocks>& clocks = stage.time.sustained_clocks;
    for (const double average : {clocks ? clocks->sm_clock_mhz : 0, clocks ? clocks->memory_clock_mhz : 0,
                                 clocks ? clocks->power_w : 0})
      row.push_back(clocks ? fmt::format("{:.0f}", average) : "-");
    row.push_back(clocks ? limits_text(*clocks) : "-");
    table.add(std::move(row));
  }
  return "\n" + table.text() + marks.legend();
}

std::string timed_tables(const Report& report, const ShapeResult& result) {
  const bool sustained = std::ranges::any_of(
      result.stages, [](const StageResult& stage) { return !stage.time.sustained.samples.empty(); });
  std::string out = burst_table(report, result);
  if (sustained) out += sustained_table(report, result);
  if (!result.why_no_clocks.empty())
    out += "\n" + indented(fmt::format("Clocks and power are not known: {}.", result.why_no_clocks), 0);
  return out;
}

/// Stages that were faster than their ceilings, each with its interval.
std::string above_ceilings_text(const ShapeResult& result) {
  std::string out;
  for (const StageResult& stage : result.stages)
    if (stage.above_ceiling)
      out += "\n" + indented(fmt::format("Note: the ceiling of {} is too low. The stage is at {:.1f} % of "
                                         "it, 95 % interval {:.1f} to {:.1f} %. Is there a faster way to "
                                         "stream, does another set of inputs stay in the cache, or are the "
                                         "stage's bytes overstated?",
                                         stage.stage->name, 100 * stage.share_of_ceiling.median,
                                         100 * stage.share_of_ceiling.interval->low,
                                         100 * stage.share_of_ceiling.interval->high),
                             0);
  return out;
}

nlohmann::json timing_json(bool timed, const Timing& timing) {
  if (!timed || timing.samples.empty()) return nullptr;
  return {{"median", timing.median},
          {"p25", timing.p25},
          {"p75", timing.p75},
          {"samples", timing.samples.size()}};
}

/// The same with all samples in the order of the rounds, rounded to five digits.
nlohmann::json timing_with_samples_json(bool timed, const Timing& timing) {
  nlohmann::json out = timing_json(timed, timing);
  if (out.is_null()) return out;
  for (const double sample : timing.samples) out["each"].push_back(std::stod(fmt::format("{:.5g}", sample)));
  return out;
}

nlohmann::json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  nlohmann::json out = {
      {"median", ratio->median}, {"low", nullptr}, {"high", nullptr}, {"samples", ratio->samples}};
  if (ratio->interval) out.update({{"low", ratio->interval->low}, {"high", ratio->interval->high}});
  return out;
}

/// The counts, which are null where the device does not count, and the expected bytes.
nlohmann::json traffic_json(const Report& report, const ShapeResult& result, const StageResult& stage) {
  const bool counted = report.device.kind == DeviceKind::kCpu && stage.status == Status::kOk;
  nlohmann::json out = counts_json(counted ? &stage.counts : nullptr);
  const Traffic expected = expected_traffic(*report.chapter, *stage.stage, result.shape);
  out["expected_read_bytes"] = expected.read_bytes;
  out["expected_write_bytes"] = expected.write_bytes;
  out["expected_repeated_bytes"] = expected.repeated_bytes;
  out["expected_peer_read_bytes"] = expected.peer_read_bytes;
  out["expected_peer_write_bytes"] = expected.peer_write_bytes;
  out["expected_dram_bytes"] = dram_traffic(*report.chapter, *stage.stage, result.shape).memory_bytes();
  return out;
}

const char* type_name(Type type) {
  switch (type) {
    case Type::kFloat32:
      return "float32";
    case Type::kFloat64:
      return "float64";
    case Type::kFloat16:
      return "float16";
    case Type::kBFloat16:
      return "bfloat16";
    case Type::kInt8:
      return "int8";
    case Type::kUint32:
      return "uint32";
  }
  throw std::logic_error("a type without a name");
}

/// The element type of the array that a stage computes, or of the first one if it computes several.
const char* dtype(const Chapter& chapter, const std::string& outputs) {
  const std::string output = outputs.substr(0, outputs.find(' '));
  const Array* const end = chapter.arrays + chapter.array_count;
  return type_name(std::find_if(chapter.arrays, end, [&](const Array& a) { return output == a.name; })->type);
}

nlohmann::json stage_json(const Report& report, const ShapeResult& result, const StageResult& stage) {
  const Chapter& chapter = *report.chapter;
  nlohmann::json out = {
      {"name", stage.stage->name},
      {"idea", stage.stage->idea},
      {"output", stage.stage->output},
      {"dtype", dtype(chapter, stage.stage->output)},
      {"against", base_of(chapter, *stage.stage).name},
      {"status", text_of(stage.status)},
      {"message", stage.message},
      {"notes", stage.notes},
      {"error", stage.compared ? nlohmann::json(stage.error) : nlohmann::json(nullptr)},
      {"error_last_places", stage.last_places ? nlohmann::json(*stage.last_places) : nlohmann::json(nullptr)},
      {"kernels", stage.stage->kernels == kAnyNumber ? stage.counts.kernels : stage.stage->kernels},
      {"traffic", traffic_json(report, result, stage)},
      {"time_us", timing_with_samples_json(stage.timed, stage.time.cold)},
      {"time_warm_us", timing_json(stage.timed, stage.time.warm)},
      {"time_launched_us", timing_json(stage.timed, stage.time.launched)},
      {"time_sustained_us", timing_with_samples_json(stage.timed, stage.time.sustained)},
      {"speed_up", ratio_json(speed_up(report, result, stage, &ContenderTiming::cold))},
      {"speed_up_sustained", ratio_json(speed_up(report, result, stage, &ContenderTiming::sustained))},
      {"burst", clocks_json(stage.time.burst_clocks)},
      {"sustained", clocks_json(stage.time.sustained_clocks)},
      {"ceiling_us", timing_json(!stage.ceiling_kernel.empty(), stage.ceiling)},
      {"ceiling_kernel", nullptr},
      {"above_ceiling", nullptr},
      {"registers", nullptr},
      {"spill_bytes", nullptr},
      {"occupancy", nullptr},
      {"gbytes_per_s", nullptr},
      {"tflops", nullptr},
      {"fraction_of_ceiling", nullptr}};
  if (stage.timed) {
    const double us = stage.time.cold.median;
    out["gbytes_per_s"] = gbytes_per_s(chapter, *stage.stage, result.shape, us);
    if (chapter.gpus) out["link_gbytes_per_s"] = link_gbytes_per_s(chapter, *stage.stage, result.shape, us);
    if (!stage.ceiling_kernel.empty()) {
      out["fraction_of_ceiling"] = fraction_of_ceiling(stage);
      out["ceiling_kernel"] = stage.ceiling_kernel;
      out["above_ceiling"] = stage.above_ceiling;
    }
    if (stage.stage->flops) out["tflops"] = tflops(*stage.stage, result.shape, stage.time.cold.median);
  }
  // For a stage with several kernels: the most registers and spills, and the lowest occupancy.
  for (const Resources& r : stage.resources) {
    out["registers"] = std::max(out["registers"].is_null() ? 0 : out["registers"].get<int>(), r.registers);
    out["spill_bytes"] = std::max(
        out["spill_bytes"].is_null() ? std::size_t{0} : out["spill_bytes"].get<std::size_t>(), r.spill_bytes);
    out["occupancy"] =
        std::min(out["occupancy"].is_null() ? 1.0 : out["occupancy"].get<double>(), r.occupancy);
  }
  return out;
}

nlohmann::json shape_json(const Chapter& chapter, const Shape& shape) {
  nlohmann::json out = nlohmann::json::array();
  for (int i = 0; i < rank(chapter.dims); ++i) out.push_back(shape.dims[i]);
  return out;
}

nlohmann::json traced_launch_json(const LaunchCounts& launch) {
  nlohmann::json requests = nlohmann::json::array();
  for (const TracedRequest& r : launch.requests)
    requests.push_back({{"place", r.place},
                        {"operation", text_of(r.kind)},
                        {"space", text_of(r.space)},
                        {"array", r.array},
                        {"bytes", r.bytes},
                        {"offsets", r.offsets},
                        {"sectors", r.sectors},
                        {"wavefronts", r.wavefronts}});
  nlohmann::json out = launch_json(launch);
  out["requests"] = std::move(requests);
  return out;
}

/// At least three digits, without an exponent: "3.50" is "3.5", 2762.08 is "2762".
std::string three_digits(double number) {
  return number < 100 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

/// The local date: "2026-11-21".
std::string today() { return fmt::format("{:%F}", fmt::localtime(std::time(nullptr))); }

}  // namespace

std::string table_text(const Report& report, const ShapeResult& result) {
  const bool gpu = report.device.kind == DeviceKind::kGpu;
  return heading(report, result, gpu ? report.device.name : "CPU device (it counts, no times)") +
         (gpu ? timed_tables(report, result) : counted_table(report, result)) + what_is_wrong(result) +
         above_ceilings_text(result) + notes_text(result);
}

std::string model_text(const Report& report, const ShapeResult& result, const std::string& card_name) {
  const Card card = *card_named(card_name);
  const bool timed = std::any_of(result.stages.begin(), result.stages.end(),
                                 [](const StageResult& stage) { return stage.timed; });
  using Headings = std::vector<std::string>;
  Table table({}, timed ? Headings{"stage", "bytes", "us", "measured us"} : Headings{"stage", "bytes", "us"});
  for (const StageResult& stage : result.stages) {
    const double moved = memory_bytes(*report.chapter, *stage.stage, result.shape);
    std::vector<std::string> row = {stage.stage->name, fmt::format("{:.0f}", moved),
                                    three_digits(moved / card.gbytes_per_s * 1e-3)};
    if (timed) row.push_back(stage.timed ? three_digits(stage.time.cold.median) : "-");
    table.add(std::move(row));
  }
  return fmt::format(
             "{}, {} = {}:\n"
             "the time that the bytes take at the published {:.0f} GB/s, if all go to DRAM\n{}\n",
             card.full_name, report.chapter->dims, shape_text(result.shape, report.chapter->dims),
             card.gbytes_per_s, timed ? fmt::format("measured: on {}\n", report.device.name) : "") +
         table.text();
}

std::string resources_text(const Report& report, const ShapeResult& result) {
  if (report.device.kind != DeviceKind::kGpu) {
    const std::string built = gpu_architectures();
    return built.empty() ? "--resources: these are known of GPU code, and this build has none.\n"
                         : fmt::format(
                               "--resources: the GPU code, built for {},\n"
                               "can be asked on a machine with a GPU only.\n",
                               built);
  }
  Table table({}, {"stage", "kernel", "threads", "registers", "spilled", "shared", "occupancy"});
  for (const StageResult& stage : result.stages) {
    std::vector<std::string> last;
    for (const Resources& r : stage.resources) {
      std::vector<std::string> row = {
          stage.stage->name,           short_function_name(r.kernel), std::to_string(r.threads),
          std::to_string(r.registers), std::to_string(r.spill_bytes), std::to_string(r.shared_bytes),
          percent(r.occupancy)};
      if (row == last) continue;  // the same kernel again
      last = row;
      table.add(std::move(row));
    }
  }
  return fmt::format(
             "Built for {}. Per thread: registers, bytes spilled. Per block: threads, bytes of\n"
             "shared memory.\n\n",
             gpu_architectures()) +
         table.text();
}

std::string trace_text(const Chapter& chapter, const Shape& shape, const std::vector<StageTrace>& stages) {
  nlohmann::json out = {
      {"schema", 1},          {"chapter", chapter.name},  {"shape", shape_json(chapter, shape)},
      {"dims", chapter.dims}, {"commit", build_commit()}, {"stages", nlohmann::json::array()}};
  for (const StageTrace& stage : stages) {
    nlohmann::json launches = nlohmann::json::array();
    for (const LaunchCounts& launch : stage.launches) launches.push_back(traced_launch_json(launch));
    out["stages"].push_back(
        {{"name", stage.stage->name}, {"idea", stage.stage->idea}, {"launches", launches}});
  }
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string json_text(const Report& report) {
  nlohmann::json out = nlohmann::json::array();
  const DeviceInfo& d = report.device;
  const DropoutOptions& dropout = report.chapter->dropout;
  for (const ShapeResult& result : report.shapes) {
    nlohmann::json stages = nlohmann::json::array();
    for (const StageResult& stage : result.stages) stages.push_back(stage_json(report, result, stage));
    out.push_back({{"schema", 1},
                   {"chapter", report.chapter->name},
                   {"device",
                    {{"kind", text_of(d.kind)},
                     {"name", d.name},
                     {"uuid", d.uuid},
                     {"compute_capability", d.compute_capability},
                     {"driver", d.driver},
                     {"sm_clock_mhz", d.sm_clock_mhz},
                     {"memory_clock_mhz", d.memory_clock_mhz},
                     {"pin_gbytes_per_s", d.pin_gbytes_per_s},
                     {"link_gbytes_per_s", d.link_gbytes_per_s},
                     {"l2_bytes", d.l2_bytes}}},
                   {"shape", shape_json(*report.chapter, result.shape)},
                   {"dims", report.chapter->dims},
                   {"unit", report.chapter->unit},
                   {"units", units(*report.chapter, result.shape)},
                   {"dtype", type_name(report.chapter->arrays[0].type)},
                   {"commit", build_commit()},
                   {"date", today()},
                   {"stages", stages}});
    if (report.chapter->has_dropout)
      out.back()["dropout"] = {{"p", dropout.p}, {"seed", dropout.seed}, {"offset", dropout.offset}};
  }
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace workbook
