#include "harness/run_chapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/backends/gpus.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "harness/tables/line_costs.hpp"
#include "harness/tables/note_words.hpp"
#include "harness/tables/report.hpp"
#include "harness/take_turns.hpp"
#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/files.hpp"
#include "system/plural.hpp"
#include "system/read_file.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

/// Whether a file is empty, or has what --json or --trace writes: an object, or an array of such, with a
/// schema and a chapter.
bool is_of_workbook(const std::string& path) {
  const FileContent content = read_file(path, std::size_t{1} << 30);
  if (content.problem.empty() && content.text.empty()) return true;
  const nlohmann::json data = nlohmann::json::parse(content.text, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json first = data.is_array() && !data.empty() ? data[0] : data;
  return first.is_object() && first.contains("schema") && first.contains("chapter");
}

/// Opens the file that the reader named with `option` ("--json"), before any work is done for it.
/// \throws UsageError
std::unique_ptr<OutputFile> open_output(const std::string& option, const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw UsageError(fmt::format("{} {}: that is no ordinary file; expected the path of one", option, path));
  if (std::filesystem::exists(status) && !is_of_workbook(path))
    throw UsageError(fmt::format(
        "{} {}: that file is not one that a chapter has written, and stays; name another one, or delete it",
        option, path));
  try {
    return std::make_unique<OutputFile>(path);
  } catch (const MachineError& failure) {
    throw UsageError(fmt::format("{} {}; expected a path in a folder that exists", option, failure.what()));
  }
}

/// The device to run on, and the chapter as compiled for it.
struct ChosenDevice {
  const Chapter* chapter;
  std::unique_ptr<Backend> cpu;     // null when a GPU was chosen
  std::unique_ptr<GpuBackend> gpu;  // null when the CPU device was chosen
  std::string why_no_gpu;           // when a GPU was looked for and there is none
  Backend& backend() const { return gpu ? *gpu : *cpu; }
};

ChosenDevice choose_device(const Options& options, const Chapter& cpu, const Chapter* gpu) {
  const std::optional<DeviceKind> wanted = options.device;
  const auto cpu_backend = [&] { return make_cpu_backend({}, Detail::kNone, options.notes); };
  if (wanted == DeviceKind::kCpu) return {&cpu, cpu_backend(), nullptr, ""};
  if (!options.visible_devices.empty()) setenv(kVisibleDevices, options.visible_devices.c_str(), 1);
  // Kernels of several GPUs wait for each other, so none may wait for its code to be loaded.
  if (gpu && gpu->gpus) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  GpuOrReason found = make_gpu_backend();
  if (found.backend && gpu->gpus) {
    const int needed = gpus_of(*gpu, options.size.value_or(gpu->gpu_shape));
    if (const std::string why = why_not_shared(*found.backend, needed); !why.empty()) found = {nullptr, why};
  }
  if (found.backend) return {gpu, nullptr, std::move(found.backend), ""};
  if (wanted == DeviceKind::kGpu)
    throw MachineError(fmt::format("--device gpu: {}; accepted here: cpu", found.reason));
  return {&cpu, cpu_backend(), nullptr, found.reason};
}

std::vector<Shape> shapes_to_run(const Options& options, const Chapter& chapter, const Backend& device) {
  const bool gpu = device.info().kind == DeviceKind::kGpu;
  if (options.size) return {*options.size};
  if (!options.sweep) return {gpu ? chapter.gpu_shape : chapter.cpu_shape};
  // On the CPU device, counts grow in proportion to the size: large shapes would take long and show nothing
  // new.
  std::vector<Shape> shapes;
  const auto volume = [&](const Shape& s) {
    double product = 1;
    for (int d = 0; d < rank(chapter.dims); ++d) product *= s.dims[d];
    return product;
  };
  for (const Shape& shape : chapter.sweep)
    if (gpu ? gpus_of(chapter, shape) <= device.gpus() : volume(shape) <= volume(chapter.cpu_shape))
      shapes.push_back(shape);
  return shapes;
}

bool wanted(const Stage& stage, const Options& options) {
  const auto& stages = options.stages;
  return stages.empty() || std::find(stages.begin(), stages.end(), stage.name) != stages.end();
}

void run_once(const ChosenDevice& device, const Options& options, const Shape& shape) {
  Problem problem(*device.chapter, shape, device.backend());
  for (const Stage& stage : device.chapter->stages)
    if (wanted(stage, options)) problem.run_once(stage);
}

int trace(const Chapter& chapter, const Options& options, const Shape& shape) {
  const std::unique_ptr<OutputFile> file = open_output("--trace", options.trace);
  std::vector<LaunchCounts> launches;
  const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                        Detail::kInstructions, options.notes);
  require_memory(chapter, shape, *backend, *backend);
  Problem problem(chapter, shape, *backend);
  std::vector<StageTrace> traces;
  for (const Stage& stage : chapter.stages) {
    if (!wanted(stage, options)) continue;
    launches.clear();
    problem.run_once(stage);
    if (!launches.empty()) traces.push_back({&stage, launches});
  }
  file->finish(trace_text(chapter, shape, traces));
  fmt::print(
      "{}: the accesses of the first warp of each launch are in {}.\n"
      "To draw them: python3 plots/plot.py --trace {}\n",
      chapter.name, options.trace, options.trace);
  return kDone;
}

/// The cost of each source line of the stages, stage by stage.
std::string lines_of_stages(const Chapter& chapter, const Options& options, const Shape& shape) {
  std::vector<LaunchCounts> launches;
  const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                        Detail::kInstructions, options.notes);
  Problem problem(chapter, shape, *backend);
  std::string out;
  for (const Stage& stage : chapter.stages) {
    if (!wanted(stage, options)) continue;
    launches.clear();
    std::string stopped;
    try {
      problem.run_once(stage);
    } catch (const std::exception&) {  // the table has said what it is
      stopped = ", which was stopped";
    }
    if (!launches.empty())
      out += fmt::format("\nLines of {}{}\n{}", stage.name, stopped, lines_text(launches));
  }
  return out;
}

ShapeResult run_shape(const ChosenDevice& device, const Options& options, const Shape& shape,
                      Progress& progress) {
  const Chapter& chapter = *device.chapter;
  const auto say = [&](const std::string& what) {
    progress.say(fmt::format("{} {}: {}", chapter.name, shape_text(shape, chapter.dims), what));
  };
  say("filling the arrays");
  Problem problem(chapter, shape, device.backend());
  ShapeResult result = {shape, {}, {}, ""};
  for (const Stage& stage : chapter.stages) {
    if (!wanted(stage, options)) continue;
    say(stage.name);
    result.stages.push_back(problem.check(stage));
    result.stages.back().notes = device.backend().take_notes();
    result.least_bytes.push_back(problem.least_bytes(stage.output));
  }
  if (device.gpu) {
    say(options.sustained ? "timing, which takes some ten seconds per stage" : "timing");
    gpu::SensorLog sensors(device.gpu->info().uuid);
    result.why_no_clocks = sensors.why_none();
    problem.time(*device.gpu, sensors, options.sustained, result.stages);
    for (StageResult& stage : result.stages)
      if (stage.status == Status::kOk) stage.resources = problem.resources(*device.gpu, *stage.stage);
  }
  return result;
}

/// Option --take-turns: checks the stages, says which are ready, and runs one whenever standard input asks.
int let_take_turns(const ChosenDevice& device, const Options& options, const Shape& shape) {
  const Chapter& chapter = *device.chapter;
  Problem problem(chapter, shape, *device.gpu);
  std::vector<const Stage*> ready;
  std::vector<std::string> names;
  nlohmann::json skipped = nlohmann::json::object();
  for (const Stage& stage : chapter.stages) {
    if (!wanted(stage, options)) continue;
    const StageResult result = problem.check(stage);
    if (result.status == Status::kWrong)
      throw std::runtime_error(fmt::format("stage {}: {}", stage.name, result.message));
    if (result.status == Status::kSkipped) {
      skipped[stage.name] = result.message;
      continue;
    }
    ready.push_back(&stage);
    names.push_back(stage.name);
  }
  const std::unique_ptr<gpu::Turns> turns = problem.turns(*device.gpu, ready);
  gpu::SensorLog sensors(device.gpu->info().uuid);
  std::cout << nlohmann::json({{"ready", names}, {"skipped", skipped}}).dump() << std::endl;
  take_turns(*turns, sensors, names, std::cin, std::cout);
  return kDone;
}

std::string what_next(const Chapter& chapter) {
  return fmt::format(
      "\nNext: docs/{0}.md is the lesson; the stages are files of\n"
      "chapters/{0}/, to be read side by side; its exercises/ are yours.\n",
      chapter.name);
}

int run(const Options& options, const Chapter& cpu, const Chapter* gpu) {
  if (!options.trace.empty()) return trace(cpu, options, options.size.value_or(cpu.cpu_shape));
  const ChosenDevice device = choose_device(options, cpu, gpu);
  if (device.gpu) require_note_words(options.notes, DeviceKind::kGpu);
  const Chapter& chapter = *device.chapter;
  const std::unique_ptr<Backend> host = make_cpu_backend();
  const std::vector<Shape> shapes = shapes_to_run(options, chapter, device.backend());
  for (const Shape& shape : shapes) require_memory(chapter, shape, device.backend(), *host);
  if (options.once) {
    for (const Shape& shape : shapes) run_once(device, options, shape);
    return kDone;
  }

  if (options.take_turns) return let_take_turns(device, options, shapes.front());

  if (!options.json.empty()) open_output("--json", options.json);  // a mistake in its name ends the run now
  Report report = {&chapter, device.backend().info(), {}};
  bool right = true;
  std::vector<std::string> note_words;
  for (const Shape& shape : shapes) {
    {
      Progress progress;
      report.shapes.push_back(run_shape(device, options, shape, progress));
    }
    const ShapeResult& result = report.shapes.back();
    for (const StageResult& stage : result.stages) {
      right &= stage.status != Status::kWrong;
      note_words.push_back(stage.note_word);
    }
    fmt::print("{}{}", report.shapes.size() > 1 ? "\n" : "", table_text(report, result));
    if (!options.model.empty()) fmt::print("\n{}", model_text(report, result, options.model));
    if (options.resources) fmt::print("\n{}", resources_text(report, result));
    if (options.lines) fmt::print("{}", lines_of_stages(chapter, options, shape));
    flush_standard_output();
    if (!options.json.empty())
      replace_file(options.json, json_text(report));  // a long sweep may not come to its end
  }
  fmt::print("{}", how_to_go_on(note_words));
  if (!device.why_no_gpu.empty()) fmt::print("\nNot timed: {}.\n", device.why_no_gpu);
  fmt::print("{}", what_next(chapter));
  return right ? kDone : kWrong;
}

/// run() of the chapter with the dropout that the options say.
int run_with_dropout(const Options& options, Chapter cpu, const Chapter* gpu) {
  cpu.dropout = options.dropout;
  if (!gpu) return run(options, cpu, nullptr);
  Chapter chosen = *gpu;
  chosen.dropout = options.dropout;
  return run(options, cpu, &chosen);
}

}  // namespace

int run_chapter(int argc, const char* const* argv, const Chapter& cpu, const Chapter* gpu) {
  const auto complain = [&](const std::exception& error, int status) {
    say("{}", complaint(cpu.name, error.what()));
    return status;
  };
  try {
    const auto options = parse_options(argc, argv, cpu);
    const int status = options ? run_with_dropout(*options, cpu, gpu) : static_cast<int>(kDone);
    flush_standard_output();
    return status;
  } catch (const UsageError& error) {
    return complain(error, kBadUsage);
  } catch (const MachineError& error) {
    return complain(error, kMachineLacks);
  } catch (const std::system_error& error) {  // fmt: output cannot be written
    return complain(error, kMachineLacks);
  } catch (const std::bad_alloc&) {
    return complain(std::runtime_error("memory ran out: choose a smaller --size"), kMachineLacks);
  } catch (const std::exception& error) {  // several lines, where it is a finding of the CPU device
    say("{}", indented(fmt::format("{}: {}", cpu.name, error.what()), 0));
    return kWrong;
  }
}

}  // namespace workbook
