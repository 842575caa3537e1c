#include "harness/run_exercise.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cpu_device/findings/finding.hpp"
#include "cpu_device/races/race_findings.hpp"
#include "harness/derived_counts.hpp"
#include "harness/errors.hpp"
#include "harness/exit_status.hpp"
#include "harness/files.hpp"
#include "harness/gpus.hpp"
#include "harness/lines.hpp"
#include "harness/options.hpp"
#include "harness/run_stage.hpp"
#include "harness/source_check.hpp"
#include "plural.hpp"
#include "say.hpp"

namespace workbook {
namespace {

using nlohmann::ordered_json;

/// The most steps of one block, unless the environment says otherwise: an infinite loop is found within a
/// second.
constexpr const char* kSteps = "20000000";

/// Once something is wrong, no further case is started after this time, because the reader is waiting. It is
/// processor time, so that a verdict does not depend on what else the machine does.
constexpr std::chrono::seconds kPatience{2};

/// The processor time that this thread has used, and the GPUs' threads where several run.
std::chrono::nanoseconds processor_time(const Exercise& exercise) {
  timespec used = {};
  clock_gettime(exercise.gpus ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void write_file(const std::string& path, const ordered_json& content) {
  replace_file(path, content.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

Chapter chapter_of(const Exercise& exercise) {
  Chapter chapter = {};
  chapter.name = "";
  chapter.dims = exercise.dims;
  chapter.arrays = exercise.arrays;
  chapter.array_count = exercise.array_count;
  chapter.fill = exercise.fill;
  chapter.gpus = exercise.gpus;
  return chapter;
}

int gpus_of(const Exercise& exercise, const Shape& shape) { return exercise.gpus ? exercise.gpus(shape) : 1; }

/// What a limit on bytes is per: the elements of the first array, of all GPUs.
long long elements_of(const Exercise& exercise, const Shape& shape) {
  return gpus_of(exercise, shape) * exercise.arrays[0].count(shape);
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

/// One case to judge: a shape, the threads of a block, and for each array by how many bytes its start is off
/// a multiple of 256.
struct Case {
  Shape shape;
  int block = 256;
  std::map<std::string, std::size_t> offsets = {};
  std::string how = {};  ///< in words, what of this is special
};

Case all_off_by(const Exercise& exercise, const Shape& shape, std::size_t bytes) {
  Case one = {.shape = shape, .how = fmt::format("all arrays {} bytes off", bytes)};
  for (int i = 0; i < exercise.array_count; ++i) one.offsets[exercise.arrays[i].name] = bytes;
  return one;
}

Case one_off(const Shape& shape, const char* array) {
  return {.shape = shape, .offsets = {{array, 4}}, .how = fmt::format("{} 4 bytes off", array)};
}

Case each_off_differently(const Exercise& exercise, const Shape& shape) {
  Case one = {.shape = shape, .how = "bytes off:"};
  for (int i = 0; i < exercise.array_count; ++i) {
    const char* name = exercise.arrays[i].name;
    one.offsets[name] = 4 * ((static_cast<std::size_t>(i) + 1) % 4);
    one.how += fmt::format(" {} {}", name, one.offsets[name]);
  }
  return one;
}

/// A shape in all ways that the exercise wants it tried.
std::vector<Case> cases_of(const Exercise& exercise, const Shape& shape) {
  std::vector<Case> cases;
  for (int i = 0; i < exercise.block_count; ++i)
    cases.push_back({.shape = shape,
                     .block = exercise.blocks[i],
                     .how = fmt::format("blocks of {} threads", exercise.blocks[i])});
  if (exercise.grid_blocks)
    cases.push_back(
        {.shape = shape, .how = fmt::format("a grid of {}", plural(exercise.grid_blocks(shape), "block"))});
  else if (!exercise.blocks)
    cases.push_back({.shape = shape});
  if (!exercise.any_alignment) return cases;
  cases.push_back(each_off_differently(exercise, shape));
  for (int i = 0; i < exercise.array_count; ++i) cases.push_back(one_off(shape, exercise.arrays[i].name));
  for (const std::size_t bytes : {12, 8, 4}) cases.push_back(all_off_by(exercise, shape, bytes));
  return cases;
}

/// All cases. Costs are judged in the last one. Where alignment matters, its arrays are misaligned, because
/// code that handles only aligned arrays well would keep within the budget on aligned ones.
std::vector<Case> cases_of(const Exercise& exercise) {
  std::vector<Case> cases;
  for (int i = 0; i < exercise.shape_count; ++i) {
    const std::vector<Case> more = cases_of(exercise, exercise.shapes[i]);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

// --- Costs ---

enum class Unit { kNumber, kBytes, kRequests };

struct Counted {
  const char* what;
  long long count;
  Unit unit;
  long long used_bytes = 0;  ///< of bytes in sectors, those that lanes use
};

Counted counted(Cost cost, const Counts& counts) {
  switch (cost) {
    case Cost::kLaunches:
      return {"launches", counts.kernels, Unit::kNumber};
    case Cost::kThreads:
      return {"threads", counts.threads, Unit::kNumber};
    case Cost::kReadBytes:
      return {"bytes read an element", read_bytes(counts), Unit::kBytes, counts.load_bytes};
    case Cost::kWrittenBytes:
      return {"bytes written an element", written_bytes(counts), Unit::kBytes, counts.store_bytes};
    case Cost::kCompulsoryReadBytes:
      return {"compulsory bytes read an element", counts.compulsory_read_bytes, Unit::kBytes};
    case Cost::kCompulsoryWrittenBytes:
      return {"compulsory bytes written an element", counts.compulsory_write_bytes, Unit::kBytes};
    case Cost::kPeerReadBytes:
      return {"bytes read over NVLink an element", 32 * counts.peer_load_sectors, Unit::kBytes};
    case Cost::kPeerWrittenBytes:
      return {"bytes written over NVLink an element", 32 * counts.peer_store_sectors, Unit::kBytes};
    case Cost::kLoadRequests:
      return {"load requests", counts.load_requests, Unit::kRequests};
    case Cost::kStoreRequests:
      return {"store requests", counts.store_requests, Unit::kRequests};
    case Cost::kSharedRequests:
      return {"shared requests", counts.shared_requests, Unit::kNumber};
    case Cost::kSharedWavefronts:
      return {"shared wavefronts", shared_wavefronts(counts), Unit::kNumber};
    case Cost::kBarriers:
      return {"barriers", counts.barriers, Unit::kNumber};
    case Cost::kAtomics:
      return {"atomics", counts.atomic_sectors + counts.contended + counts.shared_atomic_requests,
              Unit::kNumber};
  }
  throw std::logic_error("a limit on a cost that nothing counts");
}

/// How much more than a limit is let pass. A head or tail of single elements takes a few sectors and requests
/// of each array of each GPU; a row that begins within a sector takes one more.
long long slack(const Exercise& exercise, const Shape& shape, Unit unit) {
  constexpr long long kSingles = 16;
  const bool has_rows = std::string_view(exercise.dims) != "N";
  const long long rows = has_rows ? shape.dims[exercise.gpus ? 1 : 0] : 0;
  const long long extra = exercise.array_count * gpus_of(exercise, shape) * (kSingles + rows);
  switch (unit) {
    case Unit::kNumber:
      return 0;
    case Unit::kBytes:
      return 32 * extra;
    case Unit::kRequests:
      return extra;
  }
  throw std::logic_error("a unit without slack");
}

/// What more than the limit means: the same bytes again, or bytes that are scattered over too many sectors.
std::string excess(const Limit& limit, const Counted& cost, long long allowed) {
  if (!limit.scattered || cost.used_bytes > allowed) return limit.excess;
  return fmt::format("the lanes use {} of these bytes: {}",
                     percent(static_cast<double>(cost.used_bytes) / static_cast<double>(cost.count)),
                     limit.scattered);
}

/// Adds the budget at `shape` to the verdict. Returns whether all costs are within their limits.
bool judge_costs(const Exercise& exercise, const Shape& shape, const Counts& counts, ordered_json& verdict) {
  bool kept = true;
  const auto elements = static_cast<double>(elements_of(exercise, shape));
  for (int i = 0; i < exercise.limit_count; ++i) {
    const Limit& limit = exercise.limits[i];
    const Counted cost = counted(limit.cost, counts);
    const long long allowed = limit.allowed(shape) + slack(exercise, shape, cost.unit);
    const bool approximate = counts.approximate && cost.unit != Unit::kNumber;
    const bool over = cost.count > allowed && !approximate;
    const double unit = cost.unit == Unit::kBytes ? elements
                        : limit.blocks            ? static_cast<double>(limit.blocks(shape))
                                                  : 1;
    const char* of = limit.blocks ? " per block" : limit.cost == Cost::kBarriers ? " of all blocks" : "";
    kept &= !over;
    verdict["budget"].push_back({{"what", std::string(cost.what) + of},
                                 {"counted", static_cast<double>(cost.count) / unit},
                                 {"allowed", static_cast<double>(allowed) / unit},
                                 {"per_element", cost.unit == Unit::kBytes || limit.blocks},
                                 {"approximate", approximate},
                                 {"over", over},
                                 {"excess", over ? excess(limit, cost, allowed) : limit.excess}});
  }
  return kept;
}

/// How much of the work one block does, where there is much of it; else 0.
long long percent_of_busiest_block(const Counts& counts) {
  constexpr long long kMuch = 50'000;
  return counts.accesses < kMuch ? 0 : 100 * counts.accesses_of_busiest_blocks / counts.accesses;
}

/// Adds to the budget if in some case of the last shape one block does what the whole grid should do. Returns
/// whether the work is shared.
bool judge_sharing(long long percent, ordered_json& verdict) {
  constexpr long long kMostPercent = 25;
  if (percent <= kMostPercent) return true;
  verdict["budget"].push_back(
      {{"what", "percent of all loads and stores in one block"},
       {"counted", percent},
       {"allowed", kMostPercent},
       {"per_element", false},
       {"approximate", false},
       {"over", true},
       {"excess", "a GPU runs many blocks at a time: does the whole grid share the work?"}});
  return false;
}

// --- Verdicts ---

/// Runs the code on all cases, then compares its costs with the limits. Returns whether it is right and
/// within the limits.
bool judge_code(const Exercise& exercise, const Version& version, const std::string& path,
                ordered_json& verdict) {
  const auto backend = make_cpu_backend();
  const Chapter chapter = chapter_of(exercise);
  const Stage stage = stage_of(exercise, version);
  const std::chrono::nanoseconds start = processor_time(exercise);
  bool right = true;
  Counts counts;
  long long percent = 0;
  const std::vector<Case> cases = cases_of(exercise);
  const std::string last_shape = shape_text(cases.back().shape, exercise.dims);
  for (const Case& one : cases) {
    if (!right && processor_time(exercise) - start > kPatience) break;
    const std::string shape = shape_text(one.shape, exercise.dims);
    verdict["at"] = fmt::format("{} = {}", exercise.dims, shape);
    write_file(path, verdict);
    Problem problem(chapter, one.shape, *backend, one.offsets, one.block);
    const StageResult result = problem.check(stage);
    right &= result.status == Status::kOk;
    counts = result.counts;
    if (shape == last_shape) percent = std::max(percent, percent_of_busiest_block(counts));
    verdict["cases"].push_back({{"shape", shape},
                                {"how", one.how},
                                {"right", result.status == Status::kOk},
                                {"wrong_outputs", result.wrong_outputs},
                                {"message", result.message}});
  }
  verdict["notes"] = backend->take_notes();
  if (!right) return false;
  const bool kept = judge_costs(exercise, cases.back().shape, counts, verdict);
  return judge_sharing(percent, verdict) && kept;
}

// --- Predictions ---

/// Whether a prediction is as near to a number as the exercise asks, or is the number rounded to a tenth.
bool is_near(double predicted, double number, double tolerance) {
  constexpr double kRounding = 0.051;
  return std::fabs(number - predicted) <= std::max(kRounding, tolerance * std::fabs(number));
}

/// Which of the prediction's words is predicted; 0 where no word has that number.
int word_predicted(const Prediction& prediction, double predicted) {
  for (int i = 1; i < prediction.word_count; ++i)
    if (predicted == i) return i;
  return 0;
}

/// A prediction compared with the number that is right.
const char* comparison(const Prediction& prediction, double predicted, double seen) {
  if (prediction.words)
    return word_predicted(prediction, predicted) == 0 ? "no answer" : predicted == seen ? "right" : "other";
  if (!std::isfinite(predicted)) return "no number";
  if (is_near(predicted, seen, prediction.tolerance)) return "right";
  return seen > predicted ? "more" : "fewer";
}

/// The explanation of the mistake that leads to a wrong prediction; empty where there is none.
const char* slip_of(const Prediction& prediction, double predicted) {
  for (int i = 0; i < prediction.slip_count; ++i)
    if (is_near(predicted, prediction.slips[i].number, prediction.tolerance)) return prediction.slips[i].says;
  return "";
}

/// \throws std::logic_error when a mistake would pass
void require_wrong_slips(const Prediction& prediction, double seen) {
  for (int i = 0; i < prediction.slip_count; ++i)
    if (std::string_view(comparison(prediction, prediction.slips[i].number, seen)) == "right")
      throw std::logic_error(fmt::format("{}: a mistake leads to the right number", prediction.name));
}

std::string text_of(const Prediction& prediction, double predicted) {
  if (prediction.words) return prediction.words[word_predicted(prediction, predicted)];
  return std::isnan(predicted) ? "nan" : fmt::format("{:.1f}", predicted);
}

/// The number that is right, where a prediction is near enough and not the same; else empty.
std::string difference(const Prediction& prediction, double predicted, double seen) {
  const bool same = is_near(predicted, seen, 0);
  return !same && is_near(predicted, seen, prediction.tolerance) ? fmt::format("{:.1f}", seen) : "";
}

const char* unit_of(const Prediction& prediction) {
  if (!prediction.run) return prediction.unit;
  if (prediction.launches) return "launches";
  return prediction.flops > 0 ? "FLOP a byte" : "bytes an element";
}

/// The number that a pipeline's prediction is about, from its counts for so many elements.
double counted_number(const Prediction& prediction, const Counts& counts, double elements) {
  if (prediction.launches) return static_cast<double>(counts.kernels);
  const double bytes = static_cast<double>(read_bytes(counts) + written_bytes(counts)) / elements;
  return prediction.flops > 0 ? prediction.flops / bytes : bytes;
}

/// Counts pipelines at the last shape of an exercise, each once: several predictions may be about one.
class Pipelines {
 public:
  explicit Pipelines(const Exercise& exercise)
      : exercise_(exercise), chapter_(chapter_of(exercise)), backend_(make_cpu_backend()) {}

  /// The number that is right.
  double number(const Prediction& prediction) {
    if (!prediction.run) return prediction.value;
    const Shape& shape = exercise_.shapes[exercise_.shape_count - 1];
    if (!problem_) problem_.emplace(chapter_, shape, *backend_);
    if (!counted_.contains(prediction.run)) {
      Stage stage = {};
      stage.run = prediction.run;
      counted_[prediction.run] = problem_->run_once(stage);
    }
    return counted_number(prediction, counted_[prediction.run],
                          static_cast<double>(elements_of(exercise_, shape)));
  }

 private:
  const Exercise& exercise_;
  const Chapter chapter_;
  const std::unique_ptr<Backend> backend_;
  std::optional<Problem> problem_;  ///< none where no pipeline is run
  std::map<void (*)(const Data&), Counts> counted_;
};

/// Compares each prediction with the number that is right. Returns whether all are right.
bool judge_predictions(const Exercise& exercise, const Answer& answer, const std::string& path,
                       ordered_json& verdict) {
  if (answer.prediction_count != exercise.prediction_count)
    throw std::logic_error("an answer does not have the numbers that are asked for");
  Pipelines pipelines(exercise);
  bool right = true;
  for (int i = 0; i < exercise.prediction_count; ++i) {
    const Prediction& prediction = exercise.predictions[i];
    const double predicted = answer.predictions[i];
    verdict["at"] = prediction.name;
    write_file(path, verdict);
    const double seen = pipelines.number(prediction);
    require_wrong_slips(prediction, seen);
    const std::string compared = comparison(prediction, predicted, seen);
    right &= compared == "right";
    verdict["predictions"].push_back({{"name", prediction.name},
                                      {"unit", unit_of(prediction)},
                                      {"predicted", text_of(prediction, predicted)},
                                      {"counted", compared},
                                      {"near", difference(prediction, predicted, seen)},
                                      {"slip", compared == "right" ? "" : slip_of(prediction, predicted)}});
  }
  return right;
}

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
                          {"outputs", exercise.output ? exercise.output : ""},
                          {"cases", ordered_json::array()},
                          {"budget", ordered_json::array()},
                          {"predictions", ordered_json::array()},
                          {"notes", ordered_json::array()},
                          {"learnt", exercise.learnt},
                          {"lesson", exercise.lesson}};
  const bool solved = verdict["refused"] == "" &&
                      (exercise.predictions ? judge_predictions(exercise, version.answer(), path, verdict)
                                            : judge_code(exercise, version, path, verdict));
  verdict["status"] = text_of(solved ? VerdictStatus::kSolved : VerdictStatus::kNotYet);
  verdict.erase("at");
  write_file(path, verdict);
}

/// Elements of the first array that a page is about, at most: a few blocks, and a last one that is not full.
constexpr long long kMostViewed = 8192;

/// The largest of the exercise's shapes that is not too large for a page, or the smallest.
Shape viewed_shape(const Exercise& exercise) {
  const auto elements = [&](const Shape& shape) { return elements_of(exercise, shape); };
  std::vector<Shape> shapes(exercise.shapes, exercise.shapes + exercise.shape_count);
  std::ranges::stable_sort(shapes, {}, elements);
  Shape chosen = shapes.front();
  for (const Shape& shape : shapes)
    if (elements(shape) <= kMostViewed) chosen = shape;
  return chosen;
}

/// Runs the version once at a shape and writes what each of its lines costs to the file at `path`.
/// \throws MachineError, UsageError before it has run any code of the reader's
ExitStatus view(const Exercise& exercise, const Version& version, const std::string& path,
                const std::string& size) {
  if (exercise.predictions) throw UsageError("it asks for numbers, so there is no kernel of yours to see");
  const Shape shape = size.empty() ? viewed_shape(exercise) : parse_shape(size, exercise.dims);
  const int block = exercise.blocks ? exercise.blocks[exercise.block_count - 1] : 256;
  View view = {version.name, version.path ? version.path : "", "", "", {}, {}, {}};
  view.at = fmt::format("{} = {}", exercise.dims, shape_text(shape, exercise.dims));
  if (exercise.blocks) view.at += fmt::format(", blocks of {} threads", block);
  if (const std::string refused = version.path ? refusal(file_text(version.path)) : ""; !refused.empty())
    throw UsageError(fmt::format("not run: {}", refused));

  const Chapter chapter = chapter_of(exercise);
  const Stage stage = stage_of(exercise, version);
  const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { view.launches.push_back(launch); },
                                        Detail::kInstructions);
  require_memory(chapter, shape, *backend, *backend);
  Problem problem(chapter, shape, *backend, {}, block);
  write_file(path, {{"status", text_of(VerdictStatus::kRunning)},
                    {"at", view.at},
                    {"cases", ordered_json::array()}});  // in case the reader's code ends the program
  try {
    problem.run_once(stage);
  } catch (const cpu::Finding& finding) {
    view.findings.push_back(finding.what());
  } catch (const std::exception& error) {
    view.result = error.what();
  } catch (...) {  // of the reader's host code
    view.result = kStrangeException;
  }
  view.notes = backend->take_notes();
  if (view.findings.empty() && view.result.empty()) {
    const auto counting = make_cpu_backend();
    Problem checked(chapter, shape, *counting, {}, block);
    const StageResult result = checked.check(stage);
    view.result = result.status == Status::kOk ? "The result is right at this size." : result.message;
  }
  replace_file(path, view_json(view));
  return kDone;
}

/// The same, but what cannot be viewed is said in the file: the reader's code can print anything and return
/// any status. \throws MachineError
ExitStatus view_or_refuse(const Exercise& exercise, const Version& version, const std::string& path,
                          const std::string& size) {
  try {
    return view(exercise, version, path, size);
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
  if (exercise.predictions) return kNothingToTime;
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

/// The lesson that introduces __syncwarp(). In an exercise whose blocks have several sizes, another one
/// helps: not all of its blocks are one warp.
constexpr std::string_view kTeachesSyncwarp = "docs/03";

int judge_exercise(int argc, const char* const* argv, const Exercise& exercise, const Version* versions,
                   int count) {
  const Version* version = argc >= 3 ? version_named(argv[1], versions, count) : nullptr;
  const bool views = argc >= 4 && std::string_view(argv[3]) == "view";
  if (!version || (views ? argc > 5 : argc > 3)) return kBadUsage;
  setenv("WORKBOOK_STEPS", kSteps, /*overwrite=*/0);
  cpu::set_names_syncwarp(std::string_view(exercise.lesson) >= kTeachesSyncwarp && !exercise.blocks);
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
