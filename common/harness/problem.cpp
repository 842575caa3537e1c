#include "harness/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "cpu_device/findings/finding.hpp"
#include "gpu/statistics.hpp"
#include "harness/measure.hpp"
#include "harness/options.hpp"
#include "system/errors.hpp"
#include "system/memory_limit.hpp"
#include "system/plural.hpp"

namespace workbook {
namespace {

/// The bytes on all GPUs together.
std::size_t bytes_of(const Chapter& chapter, const Array& array, const Shape& shape) {
  return static_cast<std::size_t>(gpus_of(chapter, shape)) * static_cast<std::size_t>(array.count(shape)) *
         static_cast<std::size_t>(element_bytes(array.type));
}

bool holds(const ArrayList& arrays, const Array& array) {
  return std::ranges::any_of(arrays,
                             [&](const Array* one) { return std::string_view(one->name) == array.name; });
}

/// Whether the output is computed from that array.
bool is_of(const Array& output, const Array& input) { return holds(output.of, input); }

Traffic least_traffic(const Chapter& chapter, const ArrayList& outputs, const Shape& shape) {
  Traffic least = {0, 0};
  for (const Array* one : outputs)
    least.write_bytes += static_cast<long long>(bytes_of(chapter, *one, shape));
  for (const Array* input : chapter.arrays)
    if (std::ranges::any_of(outputs, [&](const Array* one) { return is_of(*one, *input); }))
      least.read_bytes += static_cast<long long>(bytes_of(chapter, *input, shape));
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
  return std::ranges::any_of(chapter.stages, [&](const Stage& stage) {
    return stage.exact_roundings && holds(stage.output, output);
  });
}

/// ", where x[304] is NaN": the inputs' elements at the index of a wrong one. Empty where the inputs have
/// other sizes, so that it is not made of these, or where they are too many for a message.
std::string inputs_text(const Chapter& chapter, const Shape& shape, const Data& host, const Array& output,
                        std::size_t index) {
  constexpr int kMostInputs = 6;
  const std::string dims = chapter.dims;
  if (dims != "N" && dims != "RxC") return "";
  std::string text;
  int count = 0;
  for (const Array* input : chapter.arrays) {
    if (!is_of(output, *input) || input->count(shape) != output.count(shape)) continue;
    const auto* values = static_cast<const std::byte*>(host.elements(*input));
    text += fmt::format(
        "{} {}[{}] is {}", count++ ? "," : ", where", input->name, index,
        value_text(values + index * static_cast<std::size_t>(element_bytes(input->type)), input->type));
  }
  return count <= kMostInputs ? text : "";
}

/// Whether the reference of another output is computed from that of this one.
bool comes_first(const Chapter& chapter, const Array& output) {
  return std::ranges::any_of(chapter.arrays, [&](const Array* other) {
    return other->after && std::string_view(other->after->name) == output.name;
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

std::string names_of(const ArrayList& arrays) {
  std::string names;
  for (const Array* array : arrays) names += (names.empty() ? "" : " ") + std::string(array->name);
  return names;
}

Traffic expected_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  return stage.traffic ? stage.traffic(shape) : least_traffic(chapter, stage.output, shape);
}

Traffic dram_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape) {
  const Traffic formula = expected_traffic(chapter, stage, shape);
  const Traffic several = {formula.read_bytes - formula.repeated_bytes,
                           formula.write_bytes - formula.merged_bytes};
  if (stage.kernels != 1) return several;
  const Traffic once = least_traffic(chapter, stage.output, shape);
  return {std::min(several.read_bytes, once.read_bytes), std::min(several.write_bytes, once.write_bytes)};
}

MemoryNeed memory_need(const Chapter& chapter, const Shape& shape) {
  MemoryNeed need = {0, 0, 0};
  std::size_t result = 0, latest = 0;
  const bool two_fills = chapter.has_exact_inputs && chapter.has_exact_inputs(shape);
  for (const Array* array : chapter.arrays) {
    const std::size_t bytes = bytes_of(chapter, *array, shape);
    need.device += bytes;
    if (array->role == Role::kInput) need.host += (two_fills ? 2 : 1) * bytes;
    if (array->role != Role::kOutput) continue;
    // Per element one double for the reference and one for the magnitude.
    const std::size_t fills = is_checked_exactly(chapter, *array, shape) ? 2 : 1;
    const std::size_t references =
        fills * 2 * sizeof(double) * (bytes / static_cast<std::size_t>(element_bytes(array->type)));
    result = std::max(result, bytes);
    comes_first(chapter, *array) ? need.host += references : latest = std::max(latest, references);
  }
  need.host += result + latest;
  std::size_t read = 0, written = 0;
  for (const Stage& stage : chapter.stages) {
    if (stage.suits && !stage.suits(shape)) continue;
    const Traffic traffic = dram_traffic(chapter, stage, shape);
    read = std::max(read, static_cast<std::size_t>(traffic.read_bytes));
    written = std::max(written, static_cast<std::size_t>(traffic.write_bytes));
  }
  need.timing = read + written;
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
  const auto gpus = static_cast<std::size_t>(gpus_of(chapter, shape));
  if (gpu) require(need.device / gpus + need.timing, device.free_bytes(), "GPU memory");
  require(need.host + (gpu ? 0 : device.footprint(need.device)), host.free_bytes(), "memory");
}

Problem::Problem(const Chapter& chapter, const Shape& shape, Backend& backend,
                 const std::map<std::string, std::size_t>& misalignment, int block)
    : chapter_(chapter), shape_(shape), gpus_(gpus_of(chapter, shape)), block_(block), backend_(backend) {
  fill(false);
  sets_.push_back(make_set(misalignment));
  upload_inputs(sets_[0], false);
}

void Problem::fill(bool exact) {
  Inputs& inputs = inputs_[exact];
  for (const Array* array : chapter_.arrays) {
    // Only inputs have memory on the host.
    if (array->role != Role::kInput) {
      inputs.arrays.push_back(
          {array->name, array->type, nullptr, std::vector<void*>(static_cast<std::size_t>(gpus_) - 1)});
      continue;
    }
    auto& values = inputs.values[array->name];
    values.resize(bytes(*array));
    NamedArray named = {array->name, array->type, values.data()};
    for (int gpu = 1; gpu < gpus_; ++gpu)
      named.of_other_gpus.push_back(values.data() + static_cast<std::size_t>(gpu) * bytes_on_gpu(*array));
    inputs.arrays.push_back(std::move(named));
  }
  chapter_.fill(host_data(exact));
}

Problem::~Problem() {
  for (const NamedArrays& set : sets_)
    for (const NamedArray& array : set)
      for (int gpu = 0; gpu < gpus_; ++gpu) backend_.release(array.of_gpu(gpu));
}

NamedArrays Problem::make_set(const std::map<std::string, std::size_t>& misalignment) {
  NamedArrays set;
  for (const Array* array : chapter_.arrays) {
    const auto found = misalignment.find(array->name);
    const std::size_t offset = found == misalignment.end() ? 0 : found->second;
    const auto element = static_cast<std::size_t>(element_bytes(array->type));
    const auto allocate = [&](int gpu) {
      const std::string name = gpus_ == 1 ? array->name : fmt::format("gpu{}.{}", gpu, array->name);
      void* data = backend_.allocate(bytes_on_gpu(*array), offset, name, element, gpu);
      if (array->role == Role::kState) backend_.fill(data, 0, bytes_on_gpu(*array));
      return data;
    };
    set.push_back({array->name, array->type, allocate(0)});
    for (int gpu = 1; gpu < gpus_; ++gpu) set.back().of_other_gpus.push_back(allocate(gpu));
  }
  return set;
}

void Problem::upload_inputs(const NamedArrays& set, bool exact) {
  for (const NamedArray& array : set) {
    const auto host = inputs_[exact].values.find(array.name);
    if (host == inputs_[exact].values.end()) continue;
    const std::size_t bytes = host->second.size() / static_cast<std::size_t>(gpus_);
    for (int gpu = 0; gpu < gpus_; ++gpu)
      backend_.upload(array.of_gpu(gpu), host->second.data() + static_cast<std::size_t>(gpu) * bytes, bytes);
  }
}

Data Problem::host_data(bool exact) const {
  Data host = data_of(inputs_[exact].arrays);
  host.exact = exact;
  return host;
}

std::size_t Problem::bytes(const Array& array) const { return bytes_of(chapter_, array, shape_); }

/// References are computed once, and kept while memory is ample: if it is not, one for each of the two fills,
/// and those that others are computed from.
const Reference& Problem::reference(const Array& output, bool exact) {
  constexpr std::size_t kAmple = 4;  // of what the new one takes
  std::map<const Array*, Reference>& references = inputs_[exact].references;
  const auto kept = references.find(&output);
  if (kept != references.end()) return kept->second;
  const auto elements = static_cast<std::size_t>(count(output));
  if (available_memory() < kAmple * 2 * sizeof(double) * elements)
    std::erase_if(references, [&](const auto& made) { return !comes_first(chapter_, *made.first); });
  Reference made;
  if (output.after) {
    made = reference(*output.after, exact);
  } else {
    made.expected.assign(elements, 0.0);
    made.magnitude.assign(elements, 0.0);
  }
  output.reference(host_data(exact), made.expected.data(), made.magnitude.data());
  return references[&output] = std::move(made);
}

double Problem::least_bytes(const ArrayList& output) const {
  const Traffic least = least_traffic(chapter_, output, shape_);
  return static_cast<double>(least.read_bytes + least.write_bytes);
}

void Problem::poison(unsigned char value) {
  const Data device = data_of(sets_[0]);
  for (const Array* array : chapter_.arrays) {
    if (array->role == Role::kInput) continue;
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      void* data = device.elements(*array, gpu);
      array->role == Role::kState ? backend_.fill(data, 0, bytes_on_gpu(*array))
                                  : backend_.poison(data, value, bytes_on_gpu(*array));
    }
  }
}

/// The output of all GPUs, one after another.
void Problem::download(std::byte* to, const Array& output) const {
  const std::size_t bytes = bytes_on_gpu(output);
  for (int gpu = 0; gpu < gpus_; ++gpu)
    backend_.download(to + static_cast<std::size_t>(gpu) * bytes, data_of(sets_[0]).elements(output, gpu),
                      bytes);
}

/// Backend::is_written of an element of the output, counted over all GPUs.
std::optional<bool> Problem::is_written(const Array& output, std::size_t element) const {
  const auto size = static_cast<std::size_t>(element_bytes(output.type));
  const auto on_gpu = static_cast<std::size_t>(output.count(shape_));
  const void* data = data_of(sets_[0]).elements(output, static_cast<int>(element / on_gpu));
  return backend_.is_written(static_cast<const std::byte*>(data) + element % on_gpu * size, size);
}

std::string Problem::missing_for(const Stage& stage) const {
  if (!stage.run || !is_capable(backend_.info(), stage) || (stage.suits && !stage.suits(shape_)))
    return stage.needs ? stage.needs : "another device";
  return gpus_ == 1 || stage.exchanged_by_library ? "" : backend_.missing_for(gpus_);
}

StageResult Problem::check(const Stage& stage) {
  StageResult result;
  result.stage = &stage;
  if (const std::string missing = missing_for(stage); !missing.empty()) {
    result.status = Status::kSkipped;
    result.message = "needs " + missing;
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
    if (exact.last_places) result.last_places = std::max(result.last_places.value_or(0), *exact.last_places);
  }
  result.status = result.message.empty() ? Status::kOk : Status::kWrong;
  return result;
}

void Problem::run_and_compare(const Stage& stage, bool exact, StageResult& result) {
  run_and_compare(stage, exact, kPoison, result);
  const auto has_no_nan = [](const Array* output) { return is_integer(output->type); };
  if (result.message.empty() && std::ranges::any_of(stage.output, has_no_nan))
    run_and_compare(stage, exact, kOtherPoison, result);
}

/// Runs the stage on poisoned outputs. Fills in counts and error, and the message if something is wrong.
void Problem::run_and_compare(const Stage& stage, bool exact, unsigned char poison_value,
                              StageResult& result) {
  try {
    poison(poison_value);
    Data data = data_of(sets_[0]);
    data.exact = exact;
    result.counts = backend_.run([&] { stage.run(data); });
  } catch (const DeviceLost& lost) {
    throw DeviceLost(fmt::format("stage {}: {}", stage.name, lost.what()));
  } catch (const cpu::Finding& finding) {
    result.message = finding.what();
    result.note_word = finding.note_word;
    return;
  } catch (const std::exception& failure) {
    result.message = failure.what();
    return;
  } catch (...) {  // of the reader's host code
    result.message = kStrangeException;
    return;
  }
  for (const NamedArray& a : sets_[0])
    for (int gpu = 0; gpu < gpus_; ++gpu)
      if (!backend_.guards_intact(a.of_gpu(gpu))) {
        result.message = fmt::format("something was written just outside array {}", a.name);
        return;
      }
  for (const Array* output : stage.output) {
    const std::string first = std::exchange(result.message, "");
    compare_output(*output, stage, exact, result);
    if (!result.message.empty()) result.wrong_outputs.push_back(output->name);
    if (!first.empty()) result.message = first;
  }
  const int kernels = stage.kernels * gpus_;
  if (result.message.empty() && stage.kernels != kAnyNumber && result.counts.kernels != kernels)
    result.message = fmt::format("it launched {}, its table entry says {}",
                                 plural(result.counts.kernels, "kernel"), kernels);
}

void Problem::compare_output(const Array& output, const Stage& stage, bool exact, StageResult& result) {
  std::vector<std::byte>& got = downloaded_;
  if (got.size() < bytes(output)) got.resize(bytes(output));
  download(got.data(), output);
  const auto roundings = exact ? stage.exact_roundings : stage.roundings;
  const Reference& right = reference(output, exact);
  const Comparison comparison = compare(got.data(), output.type, right, roundings(shape_));
  result.compared = true;
  result.error = std::max(result.error, comparison.error);
  if (comparison.last_places)
    result.last_places = std::max(result.last_places.value_or(0), *comparison.last_places);
  const auto place = [&](std::size_t i) {
    const auto on_gpu = static_cast<std::size_t>(output.count(shape_));
    return gpus_ == 1 ? fmt::format("{}[{}]", output.name, i)
                      : fmt::format("{}[{}] of GPU {}", output.name, i % on_gpu, i / on_gpu);
  };
  if (comparison.first_wrong >= 0) {
    const auto first = static_cast<std::size_t>(comparison.first_wrong);
    const std::optional<bool> written = is_written(output, first);
    result.message = place(first) + " ";
    if (written == false)
      result.message += fmt::format("is {}, because no kernel has written it; expected {:.9g}",
                                    is_integer(output.type) ? "undefined" : "NaN", comparison.expected);
    else
      result.message += wrong_value_text(comparison, output.type) +
                        inputs_text(chapter_, shape_, host_data(exact), output, first);
    if (!written && std::isnan(comparison.got)) result.message += " (what nothing writes is NaN, too)";
    return;
  }
  // An element that nothing writes is NaN, and must not pass for a NaN that was expected.
  for (std::size_t i = 0; i < right.expected.size(); ++i)
    if (std::isnan(right.expected[i]) && is_written(output, i) == false) {
      result.message = place(i) + " is NaN, but no kernel has written it";
      return;
    }
}

Counts Problem::run_once(const Stage& stage) {
  if (!missing_for(stage).empty()) return {};
  return backend_.run([&] { stage.run(data_of(sets_[0])); });
}

}  // namespace workbook
