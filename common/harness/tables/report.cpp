#include "harness/tables/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cpu_device/program_image/function_name.hpp"
#include "gpu/statistics.hpp"
#include "harness/tables/cards.hpp"
#include "harness/tables/clocks_json.hpp"
#include "harness/tables/columns.hpp"
#include "harness/tables/derived_counts.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

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

std::string timed_tables(const Report& report, const ShapeResult& result) {
  const bool sustained = std::ranges::any_of(
      result.stages, [](const StageResult& stage) { return !stage.time.sustained.samples.empty(); });
  std::string out = stage_table(StageTable::kBursts, report, result);
  if (sustained) out += "\n" + stage_table(StageTable::kSustained, report, result);
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

nlohmann::json stage_json(const StageRow& row) {
  const auto& [report, result, stage] = row;
  const Chapter& chapter = *report.chapter;
  nlohmann::json out = {
      {"name", stage.stage->name},
      {"idea", stage.stage->idea},
      {"output", names_of(stage.stage->output)},
      {"dtype", type_name(stage.stage->output.items[0]->type)},
      {"against", base_of(chapter, *stage.stage).name},
      {"status", text_of(stage.status)},
      {"message", stage.message},
      {"notes", stage.notes},
      {"error", stage.compared ? nlohmann::json(stage.error) : nlohmann::json(nullptr)},
      {"error_last_places", stage.last_places ? nlohmann::json(*stage.last_places) : nlohmann::json(nullptr)},
      {"kernels", stage.stage->kernels == kAnyNumber ? stage.counts.kernels : stage.stage->kernels},
      {"traffic", traffic_json(report, result, stage)},
      {"shown", shown_json(row)},
      {"time_us", timing_with_samples_json(stage.timed, stage.time.cold)},
      {"time_warm_us", timing_json(stage.timed, stage.time.warm)},
      {"time_launched_us", timing_json(stage.timed, stage.time.launched)},
      {"time_sustained_us", timing_with_samples_json(stage.timed, stage.time.sustained)},
      {"speed_up", ratio_json(speed_up(row, &ContenderTiming::cold))},
      {"speed_up_sustained", ratio_json(speed_up(row, &ContenderTiming::sustained))},
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
    out["gbytes_per_s"] = gbytes_per_s(row, us);
    if (chapter.gpus) out["link_gbytes_per_s"] = link_gbytes_per_s(row, us);
    if (!stage.ceiling_kernel.empty()) {
      out["fraction_of_ceiling"] = fraction_of_ceiling(stage);
      out["ceiling_kernel"] = stage.ceiling_kernel;
      out["above_ceiling"] = stage.above_ceiling;
    }
    if (stage.stage->flops) out["tflops"] = tflops(row, us);
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
         (gpu ? timed_tables(report, result) : stage_table(StageTable::kCounted, report, result)) +
         what_is_wrong(result) + above_ceilings_text(result) + notes_text(result);
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
    for (const StageResult& stage : result.stages) stages.push_back(stage_json({report, result, stage}));
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
                   {"dtype", type_name(report.chapter->arrays[0]->type)},
                   {"commit", build_commit()},
                   {"date", today()},
                   {"columns", headings_json(report)},
                   {"stages", stages}});
    if (report.chapter->has_dropout)
      out.back()["dropout"] = {{"p", dropout.p}, {"seed", dropout.seed}, {"offset", dropout.offset}};
  }
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace workbook
