#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "harness/backends/backend.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "harness/tables/derived_counts.hpp"
#include "judge/parts.hpp"
#include "system/plural.hpp"
#include "system/terminal.hpp"

namespace workbook {

using nlohmann::ordered_json;

namespace {

/// Once something is wrong, no further case is started after this time, because the reader is waiting. It is
/// processor time, so that a verdict does not depend on what else the machine does.
constexpr std::chrono::seconds kPatience{2};

/// The processor time that this thread has used, and the GPUs' threads where several run.
std::chrono::nanoseconds processor_time(const Exercise& exercise) {
  timespec used = {};
  clock_gettime(exercise.gpus ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// --- Cases ---

Case all_off_by(const Exercise& exercise, const Shape& shape, std::size_t bytes) {
  Case one = {.shape = shape, .how = fmt::format("all arrays {} bytes off", bytes)};
  for (const Array* array : exercise.arrays) one.offsets[array->name] = bytes;
  return one;
}

Case one_off(const Shape& shape, const char* array) {
  return {.shape = shape, .offsets = {{array, 4}}, .how = fmt::format("{} 4 bytes off", array)};
}

Case each_off_differently(const Exercise& exercise, const Shape& shape) {
  Case one = {.shape = shape, .how = "bytes off:"};
  for (int i = 0; i < exercise.arrays.count; ++i) {
    const char* name = exercise.arrays[i]->name;
    one.offsets[name] = 4 * ((static_cast<std::size_t>(i) + 1) % 4);
    one.how += fmt::format(" {} {}", name, one.offsets[name]);
  }
  return one;
}

/// A shape in all ways that the exercise wants it tried.
std::vector<Case> cases_of(const Exercise& exercise, const Shape& shape) {
  std::vector<Case> cases;
  for (const int block : exercise.blocks)
    cases.push_back({.shape = shape, .block = block, .how = fmt::format("blocks of {} threads", block)});
  if (exercise.grid_blocks)
    cases.push_back(
        {.shape = shape, .how = fmt::format("a grid of {}", plural(exercise.grid_blocks(shape), "block"))});
  else if (!exercise.blocks.count)
    cases.push_back({.shape = shape});
  if (!exercise.any_alignment) return cases;
  cases.push_back(each_off_differently(exercise, shape));
  for (const Array* array : exercise.arrays) cases.push_back(one_off(shape, array->name));
  for (const std::size_t bytes : {12, 8, 4}) cases.push_back(all_off_by(exercise, shape, bytes));
  return cases;
}

}  // namespace

std::vector<Case> cases_of(const Exercise& exercise) {
  std::vector<Case> cases;
  for (const Shape& shape : exercise.shapes) {
    const std::vector<Case> more = cases_of(exercise, shape);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

namespace {

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
  const long long extra = exercise.arrays.count * gpus_of(exercise, shape) * (kSingles + rows);
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
  for (const Limit& limit : exercise.limits) {
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

}  // namespace

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

}  // namespace workbook
