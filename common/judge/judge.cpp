#include "judge/judge.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "harness/backends/gpus.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "judge/parts.hpp"
#include "judge/source_check.hpp"
#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/files.hpp"
#include "system/say.hpp"

namespace workbook {

using nlohmann::ordered_json;

void write_file(const std::string& path, const ordered_json& content) {
  replace_file(path, content.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

Chapter chapter_of(const Exercise& exercise) {
  Chapter chapter = {};
  chapter.name = "";
  chapter.dims = exercise.dims;
  chapter.arrays = exercise.arrays;
  chapter.fill = exercise.fill;
  chapter.gpus = exercise.gpus;
  return chapter;
}

int gpus_of(const Exercise& exercise, const Shape& shape) { return exercise.gpus ? exercise.gpus(shape) : 1; }

long long elements_of(const Exercise& exercise, const Shape& shape) {
  return gpus_of(exercise, shape) * exercise.arrays[0]->count(shape);
}

Stage stage_of(const Exercise& exercise, const Version& version) {
  Stage stage = {};
  stage.name = version.name;
  stage.output = exercise.output;
  stage.kernels = kAnyNumber;
  stage.run = version.answer().run;
  stage.roundings = exercise.roundings;
  return stage;
}

namespace {

/// The most steps of one block, unless the environment says otherwise: an infinite loop is found within a
/// second.
constexpr const char* kSteps = "20000000";

const Version* version_named(std::string_view name, const Version* versions, int count) {
  for (int i = 0; i < count; ++i)
    if (name == versions[i].name) return &versions[i];
  return nullptr;
}

/// Judges a version and writes the verdict to the file at `path`. \throws MachineError
void judge(const Exercise& exercise, const Version& version, const std::string& path) {
  ordered_json verdict = {{"schema", 1},
                          {"status", text_of(VerdictStatus::kRunning)},
                          {"at", "the start"},
                          {"refused", version.path ? refusal(file_text(version.path)) : ""},
                          {"dims", exercise.dims},
                          {"outputs", names_of(exercise.output)},
                          {"cases", ordered_json::array()},
                          {"budget", ordered_json::array()},
                          {"predictions", ordered_json::array()},
                          {"notes", ordered_json::array()},
                          {"learnt", exercise.learnt},
                          {"lesson", exercise.lesson}};
  const bool solved =
      verdict["refused"] == "" &&
      (exercise.predictions.count ? judge_predictions(exercise, version.answer(), path, verdict)
                                  : judge_code(exercise, version, path, verdict));
  verdict["status"] = text_of(solved ? VerdictStatus::kSolved : VerdictStatus::kNotYet);
  verdict.erase("at");
  write_file(path, verdict);
}

/// The same, but what cannot be viewed is said in the file: the reader's code can print anything and return
/// any status. \throws MachineError
ExitStatus view_or_refuse(const Exercise& exercise, const Version& version, const std::string& path,
                          const std::string& size) {
  try {
    return view_exercise(exercise, version, path, size);
  } catch (const UsageError& error) {
    write_file(path, {{"refused", error.what()}});
    return kBadUsage;
  } catch (const MachineError& error) {
    write_file(path, {{"refused", error.what()}});
    return kMachineLacks;
  }
}

/// Runs the versions on the GPU, times them if they are to be `timed`, and writes the report to the file at
/// `path`. \throws MachineError
ExitStatus run_versions(GpuBackend& gpu, const std::string& path, bool timed, const Exercise& exercise,
                        const Version* versions, int count) {
  if (exercise.predictions.count) return kNothingToTime;
  const Chapter chapter = chapter_of(exercise);
  const Shape& shape = exercise.timed_shape;
  const int gpus = gpus_of(exercise, shape);
  std::string why = why_not_shared(gpu, gpus);
  if (why.empty() && gpus > 1)
    if (const std::string missing = gpu.missing_for(gpus); !missing.empty()) why = "that needs " + missing;
  if (!why.empty()) {
    const std::string at = fmt::format("{} = {}", exercise.dims, shape_text(shape, exercise.dims));
    write_file(path, {{"device", gpu.info().name}, {"at", at}, {"skipped", why}});
    return kDone;
  }
  std::vector<Stage> stages;
  for (int i = 0; i < count; ++i) stages.push_back(stage_of(exercise, versions[i]));
  const Case last = cases_of(exercise).back();
  Problem problem(chapter, shape, gpu, {}, last.block);
  ordered_json report = {{"device", gpu.info().name},
                         {"at", fmt::format("{} = {}", exercise.dims, shape_text(shape, exercise.dims))}};
  std::vector<StageResult> results;
  try {
    for (const Stage& stage : stages) results.push_back(problem.check(stage));
    if (timed) {
      gpu::SensorLog sensors(gpu.info().uuid);
      problem.time(gpu, sensors, false, results);
    }
  } catch (const DeviceLost& lost) {
    for (const Stage& stage : stages) report[stage.name] = {{"message", lost.what()}, {"time_us", 0}};
    write_file(path, report);
    return kWrong;
  }
  for (const StageResult& result : results)
    report[result.stage->name] = {{"message", result.message}, {"time_us", result.time.cold.median}};
  write_file(path, report);
  return kDone;
}

/// Judges a version, but what this machine lacks for that is said in the file: the reader's code can end the
/// program with any status. \throws MachineError where that cannot be written
ExitStatus judge_or_say(const Exercise& exercise, const Version& version, const std::string& path) {
  std::string lacks;
  try {
    judge(exercise, version, path);
    return kDone;
  } catch (const MachineError& error) {
    lacks = error.what();
  } catch (const std::bad_alloc&) {
    lacks = "there is too little memory";
  }
  write_file(path, {{"lacks", lacks}});
  return kMachineLacks;
}

/// Runs `work`, and reports a MachineError or UsageError of it in one line.
template <class Work>
int status_of(Work work) {
  try {
    return work();
  } catch (const MachineError& error) {
    say("{}\n", error.what());
    return kMachineLacks;
  } catch (const UsageError& error) {
    say("{}\n", error.what());
    return kBadUsage;
  }
}

}  // namespace

const char* text_of(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::kRunning:
      return "running";
    case VerdictStatus::kSolved:
      return "solved";
    case VerdictStatus::kNotYet:
      return "not yet";
  }
  throw std::logic_error("a verdict without a name");
}

std::optional<VerdictStatus> verdict_status_named(const std::string& text) {
  for (const VerdictStatus status : {VerdictStatus::kRunning, VerdictStatus::kSolved, VerdictStatus::kNotYet})
    if (text == text_of(status)) return status;
  return std::nullopt;
}

int judge_exercise(int argc, const char* const* argv, const Exercise& exercise, const Version* versions,
                   int count) {
  const Version* version = argc >= 3 ? version_named(argv[1], versions, count) : nullptr;
  const bool views = argc >= 4 && std::string_view(argv[3]) == "view";
  if (!version || (views ? argc > 5 : argc > 3)) return kBadUsage;
  setenv("WORKBOOK_STEPS", kSteps, /*overwrite=*/0);
  if (views)
    return status_of([&] { return view_or_refuse(exercise, *version, argv[2], argc == 5 ? argv[4] : ""); });
  return status_of([&] { return judge_or_say(exercise, *version, argv[2]); });
}

int time_exercise(int argc, const char* const* argv, const Exercise& exercise, const Version* versions,
                  int count) {
  const bool timed = argc == 2;
  if (!timed && (argc != 3 || std::string_view(argv[2]) != "untimed")) return kBadUsage;
  // Kernels of several GPUs wait for each other, so none may wait for its code to be loaded.
  if (exercise.gpus) setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  const GpuOrReason gpu = make_gpu_backend();
  if (!gpu.backend) return kMachineLacks;

  return status_of([&] { return run_versions(*gpu.backend, argv[1], timed, exercise, versions, count); });
}

}  // namespace workbook
