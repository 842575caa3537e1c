#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cpu_device/findings/finding.hpp"
#include "harness/backends/backend.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "harness/tables/line_page.hpp"
#include "judge/parts.hpp"
#include "judge/source_check.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"

namespace workbook {

using nlohmann::ordered_json;

namespace {

/// Elements of the first array that a page is about, at most: a few blocks, and a last one that is not full.
constexpr long long kMostViewed = 8192;

/// The largest of the exercise's shapes that is not too large for a page, or the smallest.
Shape viewed_shape(const Exercise& exercise) {
  const auto elements = [&](const Shape& shape) { return elements_of(exercise, shape); };
  std::vector<Shape> shapes(exercise.shapes.begin(), exercise.shapes.end());
  std::ranges::stable_sort(shapes, {}, elements);
  Shape chosen = shapes.front();
  for (const Shape& shape : shapes)
    if (elements(shape) <= kMostViewed) chosen = shape;
  return chosen;
}

}  // namespace

ExitStatus view_exercise(const Exercise& exercise, const Version& version, const std::string& path,
                         const std::string& size) {
  if (exercise.predictions.count)
    throw UsageError("it asks for numbers, so there is no kernel of yours to see");
  const Shape shape = size.empty() ? viewed_shape(exercise) : parse_shape(size, exercise.dims);
  const int block = exercise.blocks.count ? exercise.blocks[exercise.blocks.count - 1] : 256;
  View view = {version.name, version.path ? version.path : "", "", "", {}, {}, {}};
  view.at = fmt::format("{} = {}", exercise.dims, shape_text(shape, exercise.dims));
  if (exercise.blocks.count) view.at += fmt::format(", blocks of {} threads", block);
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

}  // namespace workbook
