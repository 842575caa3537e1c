#include "harness/run_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "cpu/finding.hpp"
#include "harness/errors.hpp"
#include "harness/options.hpp"

namespace workbook {
namespace {

std::size_t bytes_of(const Array& array, const Shape& shape) {
  return static_cast<std::size_t>(array.count(shape)) * static_cast<std::size_t>(element_bytes(array.type));
}

/// Whether `name` is one of `names`, which spaces separate.
bool holds(const std::string& names, const std::string& name) {
  return (" " + names + " ").find(" " + name + " ") != std::string::npos;
}

/// The arrays that `names`, separated by spaces, name. \throws std::logic_error when there is none
std::vector<const Array*> arrays_named(const Chapter& chapter, const char* names) {
  std::vector<const Array*> found;
  for (int i = 0; i < chapter.array_count; ++i)
    if (holds(names, chapter.arrays[i].name)) found.push_back(&chapter.arrays[i]);
  if (found.empty()) throw std::logic_error(fmt::format("the chapter has no array named {}", names));
  return found;
}

Traffic least_traffic(const Chapter& chapter, const char* output, const Shape& shape) {
  Traffic least = {0, 0};
  const std::vector<const Array*> made = arrays_named(chapter, output);
  for (const Array* one : made) least.write_bytes += static_cast<long long>(bytes_of(*one, shape));
  const auto is_read = [&](const Array& input) {
    return input.role == Role::kInput && std::any_of(made.begin(), made.end(), [&](const Array* one) {
             return !one->of || holds(one->of, input.name);
           });
  };
  for (int i = 0; i < chapter.array_count; ++i)
    if (is_read(chapter.arrays[i]))
      least.read_bytes += static_cast<long long>(bytes_of(chapter.arrays[i], shape));
  return least;
}

/// Whether the device has the compute capability that the stage needs. The CPU device can run all stages that
/// are compiled for it.
bool is_capable(const DeviceInfo& device, const Stage& stage) {
  const auto dot = device.compute_capability.find('.');
  if (dot == std::string::npos) return true;
  const int capability =
      10 * std::stoi(device.compute_capability) + std::stoi(device.compute_capability.substr(dot + 1));
  return stage.no_other_capability ? capability == stage.capability : capability >= stage.capability;
}

/// Whether stages that compute `output` are run on exact inputs as well.
bool is_checked_exactly(const Chapter& chapter, const Array& output, const Shape& shape) {
  if (!chapter.has_exact_inputs || !chapter.has_exact_inputs(shape)) return false;
  return std::any_of(chapter.stages, chapter.stages + chapter.stage_count, [&](const Stage& stage) {
    return stage.exact_roundings && holds(stage.output, output.name);
  });
}

}  // namespace

const char* text_of(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kWrong:
      return "wrong";
    case Status::kSkipped:
      return "skipped";
  }
  throw std::logic_error("a status without a name");
}

Traffic expected_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  return stage.traffic ? stage.traffic(shape) : least_traffic(chapter, stage.output, shape);
}

MemoryNeed memory_need(const Chapter& chapter, const Shape& shape) {
  MemoryNeed need = {0, 0, 0};
  const bool two_fills = chapter.has_exact_inputs && chapter.has_exact_inputs(shape);
  for (int i = 0; i < chapter.array_count; ++i) {
    const Array& array = chapter.arrays[i];
    const std::size_t bytes = bytes_of(array, shape);
    need.device += bytes;
    if (array.role == Role::kInput) need.host += (two_fills ? 2 : 1) * bytes;
    // The result, and per element one double for the reference and one for the magnitude.
    const std::size_t references = is_checked_exactly(chapter, array, shape) ? 2 : 1;
    if (array.role == Role::kOutput)
      need.host += bytes + references * 2 * sizeof(double) * static_cast<std::size_t>(array.count(shape));
  }
  for (int i = 0; i < chapter.stage_count; ++i) {
    const Traffic traffic = expected_traffic(chapter, chapter.stages[i], shape);
    need.timing = std::max(need.timing, static_cast<std::size_t>(traffic.memory_bytes()));
  }
  return need;
}

void require_memory(const Chapter& chapter, const Shape& shape, const Backend& device, const Backend& host) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const MemoryNeed need = memory_need(chapter, shape);
  const auto require = [&](std::size_t bytes, std::size_t free, const char* where) {
    if (bytes > free)
      throw MachineError(
          fmt::format("--size {} takes {:.1f} GiB of {}, and {:.1f} GiB are free: choose a smaller size",
                      shape_text(shape, chapter.dims), static_cast<double>(bytes) / kGiB, where,
                      static_cast<double>(free) / kGiB));
  };
  const bool gpu = device.info().kind == DeviceKind::kGpu;
  if (gpu) require(need.device + need.timing, device.free_bytes(), "GPU memory");
  require(need.host + (gpu ? 0 : device.footprint(need.device)), host.free_bytes(), "memory");
}

Problem::Problem(const Chapter& chapter, const Shape& shape, Backend& backend,
                 const std::map<std::string, std::size_t>& misalignment, int block)
    : chapter_(chapter), shape_(shape), block_(block), backend_(backend) {
  fill(false);
  sets_.push_back(make_set(misalignment));
  upload_inputs(sets_[0], false);
}

void Problem::fill(bool exact) {
  Inputs& inputs = inputs_[exact];
  for (int i = 0; i < chapter_.array_count; ++i) {
    const Array& array = chapter_.arrays[i];
    // Only inputs have memory on the host.
    if (array.role != Role::kInput) {
      inputs.arrays.push_back({array.name, array.type, nullptr});
      continue;
    }
    auto& values = inputs.values[array.name];
    values.resize(bytes(array));
    inputs.arrays.push_back({array.name, array.type, values.data()});
  }
  chapter_.fill(host_data(exact));
}

Problem::~Problem() {
  for (const NamedArrays& set : sets_)
    for (const NamedArray& array : set) backend_.release(array.data);
}

NamedArrays Problem::make_set(const std::map<std::string, std::size_t>& misalignment) {
  NamedArrays set;
  for (int i = 0; i < chapter_.array_count; ++i) {
    const Array& array = chapter_.arrays[i];
    const auto found = misalignment.find(array.name);
    const std::size_t offset = found == misalignment.end() ? 0 : found->second;
    const auto element = static_cast<std::size_t>(element_bytes(array.type));
    set.push_back({array.name, array.type, backend_.allocate(bytes(array), offset, array.name, element)});
  }
  return set;
}

void Problem::upload_inputs(const NamedArrays& set, bool exact) {
  for (const NamedArray& array : set) {
    const auto host = inputs_[exact].values.find(array.name);
    if (host != inputs_[exact].values.end())
      backend_.upload(array.data, host->second.data(), host->second.size());
  }
}

Data Problem::host_data(bool exact) const {
  Data host = data_of(inputs_[exact].arrays);
  host.exact = exact;
  return host;
}

std::size_t Problem::bytes(const Array& array) const { return bytes_of(array, shape_); }

const Reference& Problem::reference(const Array& output, bool exact) {
  auto& references = inputs_[exact].references;
  const auto known = references.find(output.name);
  if (known != references.end()) return known->second;
  Reference made;
  if (output.after) {
    made = reference(*arrays_named(chapter_, output.after).front(), exact);
  } else {
    made.expected.resize(static_cast<std::size_t>(count(output)));
    made.magnitude.resize(made.expected.size());
  }
  output.reference(host_data(exact), made.expected.data(), made.magnitude.data());
  return references[output.name] = std::move(made);
}

double Problem::least_bytes(const char* output) const {
  const Traffic least = least_traffic(chapter_, output, shape_);
  return static_cast<double>(least.read_bytes + least.write_bytes);
}

void Problem::poison(unsigned char value) {
  for (int i = 0; i < chapter_.array_count; ++i)
    if (chapter_.arrays[i].role != Role::kInput)
      backend_.poison(sets_[0][static_cast<std::size_t>(i)].data, value, bytes(chapter_.arrays[i]));
}

bool Problem::runs(const Stage& stage) const {
  return stage.run && is_capable(backend_.info(), stage) && (!stage.suits || stage.suits(shape_));
}

StageResult Problem::check(const Stage& stage) {
  StageResult result;
  result.stage = &stage;
  if (!runs(stage)) {
    result.status = Status::kSkipped;
    result.message = fmt::format("needs {}", stage.needs ? stage.needs : "another device");
    return result;
  }
  run_and_compare(stage, false, result);
  if (result.message.empty() && stage.exact_roundings && chapter_.has_exact_inputs &&
      chapter_.has_exact_inputs(shape_)) {
    StageResult exact;
    if (inputs_[true].arrays.empty()) fill(true);
    upload_inputs(sets_[0], true);
    run_and_compare(stage, true, exact);
    upload_inputs(sets_[0], false);
    if (!exact.message.empty()) result.message = "on inputs whose sums are exact: " + exact.message;
  }
  result.status = result.message.empty() ? Status::kOk : Status::kWrong;
  return result;
}

void Problem::run_and_compare(const Stage& stage, bool exact, StageResult& result) {
  run_and_compare(stage, exact, kPoison, result);
  const auto has_no_nan = [](const Array* output) { return is_integer(output->type); };
  const std::vector<const Array*> made = arrays_named(chapter_, stage.output);
  if (result.message.empty() && std::any_of(made.begin(), made.end(), has_no_nan))
    run_and_compare(stage, exact, kOtherPoison, result);
}

/// Runs the stage on poisoned outputs. Fills in counts and error, and the message if something is wrong.
void Problem::run_and_compare(const Stage& stage, bool exact, unsigned char poison_value,
                              StageResult& result) {
  try {
    poison(poison_value);
    result.counts = backend_.run([&] { stage.run(data_of(sets_[0])); });
  } catch (const DeviceLost& lost) {
    throw DeviceLost(fmt::format("stage {}: {}", stage.name, lost.what()));
  } catch (const cpu::Finding& finding) {
    result.message = finding.what();
    result.note_word = finding.note_word;
    return;
  } catch (const std::exception& failure) {
    result.message = failure.what();
    return;
  }
  for (const NamedArray& a : sets_[0])
    if (!backend_.guards_intact(a.data)) {
      result.message = fmt::format("something was written just outside array {}", a.name);
      return;
    }
  for (const Array* output : arrays_named(chapter_, stage.output))
    if (result.message.empty()) compare_output(*output, stage, exact, result);
  if (result.message.empty() && stage.kernels != kAnyNumber && result.counts.kernels != stage.kernels)
    result.message =
        fmt::format("it launched {} kernels, its table entry says {}", result.counts.kernels, stage.kernels);
}

void Problem::compare_output(const Array& output, const Stage& stage, bool exact, StageResult& result) {
  std::vector<std::byte> got(bytes(output));
  const void* const data = data_of(sets_[0]).array(output.name, output.type);
  backend_.download(got.data(), data, got.size());
  const auto roundings = exact ? stage.exact_roundings : stage.roundings;
  const Reference& right = reference(output, exact);
  const Comparison comparison = compare(got.data(), output.type, right, roundings(shape_));
  result.compared = true;
  result.error = std::max(result.error, comparison.error);
  const auto element = static_cast<std::size_t>(element_bytes(output.type));
  const auto is_written = [&](std::size_t i) {
    return backend_.is_written(static_cast<const std::byte*>(data) + i * element, element);
  };
  if (comparison.first_wrong >= 0) {
    const auto first = static_cast<std::size_t>(comparison.first_wrong);
    const std::optional<bool> written = is_written(first);
    result.message = fmt::format("{}[{}] ", output.name, first);
    if (written == false)
      result.message += fmt::format("is {}, because no kernel has written it; expected {:.9g}",
                                    is_integer(output.type) ? "undefined" : "NaN", comparison.expected);
    else
      result.message += wrong_value_text(comparison, output.type);
    if (!written && std::isnan(comparison.got)) result.message += " (what nothing writes is NaN, too)";
    return;
  }
  // What nothing writes is NaN, and must not pass for a NaN that was expected.
  for (std::size_t i = 0; i < right.expected.size(); ++i)
    if (std::isnan(right.expected[i]) && is_written(i) == false) {
      result.message = fmt::format("{}[{}] is NaN, but no kernel has written it", output.name, i);
      return;
    }
}

Counts Problem::run_once(const Stage& stage) {
  if (!runs(stage)) return {};
  return backend_.run([&] { stage.run(data_of(sets_[0])); });
}

Mix mix_of(const Traffic& traffic) {
  const auto read = static_cast<double>(traffic.read_bytes - traffic.repeated_bytes);
  const auto write = static_cast<double>(traffic.write_bytes);
  constexpr int kMostReads = 5, kMostWrites = 2;
  Mix best = {1, 0};
  double best_difference = INFINITY;
  for (int writes = 0; writes <= kMostWrites; ++writes)
    for (int reads = 1; reads <= kMostReads; ++reads) {
      // The share of the bytes that are written. A larger mix must be clearly better than a smaller one.
      const double difference = std::fabs(writes / double(reads + writes) - write / (read + write));
      if (difference < best_difference - 0.01) {
        best = {reads, writes};
        best_difference = difference;
      }
    }
  return best;
}

void Problem::time(GpuBackend& gpu, std::vector<StageResult>& results) {
  std::vector<StageResult*> timed;
  std::vector<Contender> contenders;
  std::vector<Stream> streams;
  for (StageResult& result : results) {
    if (result.status != Status::kOk) continue;
    const Stage& stage = *result.stage;
    const Traffic traffic = expected_traffic(chapter_, stage, shape_);
    const auto moved = static_cast<std::size_t>(traffic.memory_bytes());
    const Mix mix = mix_of(traffic);
    timed.push_back(&result);
    contenders.push_back(
        {[this, &stage](int set) { stage.run(data_of(sets_[static_cast<std::size_t>(set)])); }, moved});
    streams.push_back(
        {mix.reads, mix.writes, static_cast<long long>(moved / sizeof(float)) / (mix.reads + mix.writes)});
  }
  // Enough sets that even the stage that moves the fewest bytes finds none of its inputs in L2.
  constexpr std::size_t kMostSets = 128;
  std::size_t fewest = SIZE_MAX;
  for (const Contender& contender : contenders) fewest = std::min(fewest, contender.set_bytes);
  const std::size_t set_count = std::min(3 * gpu.info().l2_bytes / fewest + 1, kMostSets);
  while (sets_.size() < set_count) {
    sets_.push_back(make_set({}));
    upload_inputs(sets_.back(), false);
  }
  for (Contender& ceiling : gpu.ceilings(streams)) contenders.push_back(std::move(ceiling));
  const std::vector<ContenderTiming> times = gpu.time(contenders, static_cast<int>(set_count));
  for (std::size_t i = 0; i < timed.size(); ++i) {
    StageResult& result = *timed[i];
    const StageResult again = check(*result.stage);
    if (again.status != Status::kOk) {
      result.status = again.status;
      result.message = "after timing: " + again.message;
    }
    result.timed = true;
    result.time = times[i];
    result.ceiling = times[timed.size() + i];
  }
}

std::vector<Resources> Problem::resources(GpuBackend& gpu, const Stage& stage) {
  return gpu.resources([&] { stage.run(data_of(sets_[0])); });
}

}  // namespace workbook
