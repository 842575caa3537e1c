#include "harness/run_exercise.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/derived_counts.hpp"
#include "harness/errors.hpp"
#include "harness/exit_status.hpp"
#include "harness/files.hpp"
#include "harness/options.hpp"
#include "harness/run_stage.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

/// The most steps of one block, unless the environment says otherwise: an infinite loop is found within a
/// second.
constexpr const char* kSteps = "20000000";

/// Once something is wrong, no further case is started after this time, because the reader is waiting.
constexpr std::chrono::seconds kPatience{2};

void write_file(const std::string& path, const ordered_json& content) {
  replace_file(path, content.dump(2) + "\n");
}

Chapter chapter_of(const Exercise& exercise) {
  Chapter chapter = {};
  chapter.name = "";
  chapter.dims = exercise.dims;
  chapter.arrays = exercise.arrays;
  chapter.array_count = exercise.array_count;
  chapter.fill = exercise.fill;
  return chapter;
}

Stage stage_of(const Exercise& exercise, const char* name) {
  Stage stage = {};
  stage.name = name;
  stage.output = exercise.output;
  stage.kernels = kAnyNumber;
  stage.run = exercise.run;
  stage.roundings = exercise.roundings;
  return stage;
}

/// One case to judge: a shape, and for each array by how many bytes its start is off a multiple of 256.
struct Case {
  Shape shape;
  std::map<std::string, std::size_t> offsets;
  std::string alignment;  ///< in words; empty where all arrays are aligned
};

Case all_off_alike(const Exercise& exercise, const Shape& shape) {
  Case one = {shape, {}, "all arrays 4 bytes off"};
  for (int i = 0; i < exercise.array_count; ++i) one.offsets[exercise.arrays[i].name] = 4;
  return one;
}

Case each_off_differently(const Exercise& exercise, const Shape& shape) {
  Case one = {shape, {}, "bytes off:"};
  for (int i = 0; i < exercise.array_count; ++i) {
    const char* name = exercise.arrays[i].name;
    one.offsets[name] = 4 * ((static_cast<std::size_t>(i) + 1) % 4);
    one.alignment += fmt::format(" {} {}", name, one.offsets[name]);
  }
  return one;
}

/// All cases. Costs are judged in the last one. Where alignment matters, its arrays are misaligned, because
/// code that handles only aligned arrays well would keep within the budget on aligned ones.
std::vector<Case> cases_of(const Exercise& exercise) {
  std::vector<Case> cases;
  for (int i = 0; i < exercise.shape_count; ++i) {
    const Shape& shape = exercise.shapes[i];
    cases.push_back({shape, {}, ""});
    if (!exercise.any_alignment) continue;
    cases.push_back(each_off_differently(exercise, shape));
    cases.push_back(all_off_alike(exercise, shape));
  }
  return cases;
}

// --- Costs ---

struct Counted {
  const char* what;
  long long count;
  bool per_element;
};

Counted counted(Cost cost, const Counts& counts) {
  switch (cost) {
    case Cost::kLaunches:
      return {"launches", counts.kernels, false};
    case Cost::kReadBytes:
      return {"bytes read an element", read_bytes(counts), true};
    case Cost::kWrittenBytes:
      return {"bytes written an element", written_bytes(counts), true};
    case Cost::kCompulsoryReadBytes:
      return {"compulsory bytes read an element", counts.compulsory_read_bytes, true};
    case Cost::kCompulsoryWrittenBytes:
      return {"compulsory bytes written an element", counts.compulsory_write_bytes, true};
    case Cost::kLoadRequests:
      return {"load requests", counts.load_requests, false};
    case Cost::kStoreRequests:
      return {"store requests", counts.store_requests, false};
    case Cost::kSharedWavefronts:
      return {"shared wavefronts", shared_wavefronts(counts), false};
    case Cost::kAtomics:
      return {"atomics", counts.atomic_sectors + counts.contended + counts.shared_atomic_requests, false};
  }
  throw std::logic_error("a limit on a cost that nothing counts");
}

/// Adds the budget at `shape` to the verdict. Returns whether all costs are within their limits.
bool judge_costs(const Exercise& exercise, const Shape& shape, const Counts& counts, ordered_json& verdict) {
  bool kept = true;
  const auto elements = static_cast<double>(exercise.arrays[0].count(shape));
  for (int i = 0; i < exercise.limit_count; ++i) {
    const Limit& limit = exercise.limits[i];
    const Counted cost = counted(limit.cost, counts);
    const long long allowed = limit.allowed(shape);
    const double unit = cost.per_element ? elements : 1;
    kept &= cost.count <= allowed;
    verdict["budget"].push_back({{"what", cost.what},
                                 {"counted", static_cast<double>(cost.count) / unit},
                                 {"allowed", static_cast<double>(allowed) / unit},
                                 {"per_element", cost.per_element},
                                 {"over", cost.count > allowed},
                                 {"excess", limit.excess}});
  }
  return kept;
}

// --- Verdicts ---

/// Runs the code on all cases, then compares its costs with the limits. Returns whether it is right and
/// within the limits.
bool judge_code(const Exercise& exercise, const std::string& path, ordered_json& verdict) {
  const auto backend = make_cpu_backend();
  const Chapter chapter = chapter_of(exercise);
  const Stage stage = stage_of(exercise, "exercise");
  const auto start = std::chrono::steady_clock::now();
  bool right = true;
  Counts counts;
  const std::vector<Case> cases = cases_of(exercise);
  for (const Case& one : cases) {
    if (!right && std::chrono::steady_clock::now() - start > kPatience) break;
    const std::string shape = shape_text(one.shape, exercise.dims);
    verdict["at"] = fmt::format("{} = {}", exercise.dims, shape);
    write_file(path, verdict);
    Problem problem(chapter, one.shape, *backend, one.offsets);
    const StageResult result = problem.check(stage);
    right &= result.status == Status::kOk;
    counts = result.counts;
    verdict["cases"].push_back({{"shape", shape},
                                {"alignment", one.alignment},
                                {"right", result.status == Status::kOk},
                                {"message", result.message}});
  }
  verdict["notes"] = backend->take_notes();
  return right && judge_costs(exercise, cases.back().shape, counts, verdict);
}

/// Counts each pipeline at the last shape and compares that with the prediction, which may be rounded to a
/// tenth of a byte. Returns whether all predictions are right.
bool judge_predictions(const Exercise& exercise, const std::string& path, ordered_json& verdict) {
  const auto backend = make_cpu_backend();
  const Chapter chapter = chapter_of(exercise);
  const Shape& shape = exercise.shapes[exercise.shape_count - 1];
  const auto elements = static_cast<double>(exercise.arrays[0].count(shape));
  Problem problem(chapter, shape, *backend);
  std::map<void (*)(const Data&), Counts> counted;  // several predictions may be about one pipeline
  bool right = true;
  for (int i = 0; i < exercise.prediction_count; ++i) {
    const Prediction& prediction = exercise.predictions[i];
    verdict["at"] = prediction.name;
    write_file(path, verdict);
    if (!counted.contains(prediction.run)) {
      Stage stage = {};
      stage.run = prediction.run;
      counted[prediction.run] = problem.run_once(stage);
    }
    const Counts& counts = counted[prediction.run];
    const double bytes = static_cast<double>(read_bytes(counts) + written_bytes(counts)) / elements;
    const double seen = prediction.launches    ? static_cast<double>(counts.kernels)
                        : prediction.flops > 0 ? prediction.flops / bytes
                                               : bytes;
    constexpr double kRounding = 0.051;
    const bool close = std::fabs(seen - prediction.predicted) <= kRounding;
    right &= close;
    verdict["predictions"].push_back(
        {{"name", prediction.name},
         {"unit", prediction.launches    ? "launches"
                  : prediction.flops > 0 ? "FLOP a byte"
                                         : "bytes an element"},
         {"predicted", prediction.predicted},
         {"counted", close ? "right" : (seen > prediction.predicted ? "more" : "fewer")}});
  }
  return right;
}

const Version* version_named(std::string_view name, const Version* versions, int count) {
  for (int i = 0; i < count; ++i)
    if (name == versions[i].name) return &versions[i];
  return nullptr;
}

/// Judges `exercise` and writes the verdict to the file at `path`. \throws MachineError
void judge(const Exercise& exercise, const std::string& path) {
  ordered_json verdict = {{"schema", 1},
                          {"status", text_of(VerdictStatus::kRunning)},
                          {"at", "the start"},
                          {"dims", exercise.dims},
                          {"cases", ordered_json::array()},
                          {"budget", ordered_json::array()},
                          {"predictions", ordered_json::array()},
                          {"notes", ordered_json::array()},
                          {"learnt", exercise.learnt},
                          {"lesson", exercise.lesson}};
  const bool solved =
      exercise.predictions ? judge_predictions(exercise, path, verdict) : judge_code(exercise, path, verdict);
  verdict["status"] = text_of(solved ? VerdictStatus::kSolved : VerdictStatus::kNotYet);
  verdict.erase("at");
  write_file(path, verdict);
}

/// Times the versions and writes the report to the file at `path`. \throws MachineError
ExitStatus time_versions(GpuBackend& gpu, const std::string& path, const Version* versions, int count) {
  const Exercise exercise = versions[0].exercise();
  if (!exercise.run) return kNothingToTime;
  const Chapter chapter = chapter_of(exercise);
  const Shape& shape = exercise.timed_shape;
  std::vector<Stage> stages;
  for (int i = 0; i < count; ++i) stages.push_back(stage_of(versions[i].exercise(), versions[i].name));
  Problem problem(chapter, shape, gpu);
  ordered_json report = {{"device", gpu.info().name},
                         {"at", fmt::format("{} = {}", exercise.dims, shape_text(shape, exercise.dims))}};
  std::vector<StageResult> results;
  try {
    for (const Stage& stage : stages) results.push_back(problem.check(stage));
    problem.time(gpu, results);
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

/// Runs `work`, and reports a MachineError of it in one line.
template <class Work>
int status_of(Work work) {
  try {
    return work();
  } catch (const MachineError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kMachineLacks;
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

int judge_exercise(int argc, const char* const* argv, const Version* versions, int count) {
  const Version* version = argc == 3 ? version_named(argv[1], versions, count) : nullptr;
  if (!version) return kBadUsage;
  setenv("WORKBOOK_STEPS", kSteps, /*overwrite=*/0);
  return status_of([&] {
    judge(version->exercise(), argv[2]);
    return kDone;
  });
}

int time_exercise(int argc, const char* const* argv, const Version* versions, int count) {
  if (argc != 2) return kBadUsage;
  const GpuOrReason gpu = make_gpu_backend();
  if (!gpu.backend) return kMachineLacks;

  return status_of([&] { return time_versions(*gpu.backend, argv[1], versions, count); });
}

}  // namespace workbook
