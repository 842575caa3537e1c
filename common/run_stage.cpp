#include "run_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "options.hpp"

namespace workbook {
namespace {

constexpr std::size_t kElementBytes = 4;

std::size_t bytes(long long count) { return static_cast<std::size_t>(count) * kElementBytes; }

}  // namespace

MemoryNeed memory_need(const Chapter& chapter, const Shape& shape) {
  MemoryNeed need = {0, 0, 0};
  for (int i = 0; i < chapter.array_count; ++i) {
    const Array& array = chapter.arrays[i];
    const long long count = array.count(shape);
    need.device += bytes(count);
    if (array.role == Role::kInput) need.host += bytes(count);
    // The result, and a double each for its reference and magnitude.
    if (array.role == Role::kOutput)
      need.host += bytes(count) + 2 * sizeof(double) * static_cast<std::size_t>(count);
  }
  for (int i = 0; i < chapter.stage_count; ++i) {
    const Traffic traffic = chapter.stages[i].traffic(shape);
    need.timing = std::max(need.timing, static_cast<std::size_t>(traffic.read_bytes + traffic.write_bytes));
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
  const bool gpu = device.info().kind == "gpu";
  if (gpu) require(need.device + need.timing, device.free_bytes(), "GPU memory");
  require(need.host + (gpu ? 0 : device.footprint(need.device)), host.free_bytes(), "memory");
}

Problem::Problem(const Chapter& chapter, const Shape& shape, Backend& backend,
                 const std::map<std::string, std::size_t>& misalignment)
    : chapter_(chapter), shape_(shape), backend_(backend) {
  for (int i = 0; i < chapter.array_count; ++i) {
    const Array& array = chapter.arrays[i];
    // Scratch has no business on the host; the others are there under their names.
    if (array.role != Role::kInput) {
      host_arrays_.push_back({array.name, nullptr});
      continue;
    }
    auto& values = host_[array.name];
    values.resize(static_cast<std::size_t>(count(array)));
    host_arrays_.push_back({array.name, values.data()});
  }
  chapter.fill(device_data(host_arrays_));
  sets_.push_back(make_set(misalignment));
  upload_inputs(sets_[0]);
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
    set.push_back({array.name, backend_.allocate(bytes(count(array)), offset, array.name, kElementBytes)});
  }
  return set;
}

void Problem::upload_inputs(const NamedArrays& set) {
  for (const NamedArray& array : set) {
    const auto host = host_.find(array.name);
    if (host != host_.end())
      backend_.upload(array.data, host->second.data(), host->second.size() * kElementBytes);
  }
}

const Array& Problem::array(const char* name) const {
  for (int i = 0; i < chapter_.array_count; ++i)
    if (std::strcmp(chapter_.arrays[i].name, name) == 0) return chapter_.arrays[i];
  throw std::logic_error(fmt::format("the chapter has no array named {}", name));
}

const Reference& Problem::reference(const Array& output) {
  Reference& reference = references_[output.name];
  if (reference.expected.empty()) {
    reference.expected.resize(static_cast<std::size_t>(count(output)));
    reference.magnitude.resize(reference.expected.size());
    output.reference(device_data(host_arrays_), reference.expected.data(), reference.magnitude.data());
  }
  return reference;
}

Traffic Problem::least_traffic(const char* output) const {
  Traffic least = {0, static_cast<long long>(bytes(count(array(output))))};
  for (int i = 0; i < chapter_.array_count; ++i)
    if (chapter_.arrays[i].role == Role::kInput)
      least.read_bytes += static_cast<long long>(bytes(count(chapter_.arrays[i])));
  return least;
}

double Problem::least_bytes(const char* output) const {
  const Traffic least = least_traffic(output);
  return static_cast<double>(least.read_bytes + least.write_bytes);
}

void Problem::poison() {
  for (int i = 0; i < chapter_.array_count; ++i)
    if (chapter_.arrays[i].role != Role::kInput)
      backend_.poison(sets_[0][static_cast<std::size_t>(i)].data, bytes(count(chapter_.arrays[i])));
}

StageResult Problem::check(const Stage& stage) {
  StageResult result;
  result.stage = &stage;
  if (!stage.run) {
    result.status = "skipped";
    result.message = fmt::format("needs {}", stage.needs ? stage.needs : "another device");
    return result;
  }
  result.status = "wrong";
  const Array& output = array(stage.output);
  const Data data = device_data(sets_[0]);
  float* device_output = data.floats(stage.output);
  try {
    poison();
    result.counts = backend_.run([&] { stage.run(data); });
  } catch (const std::exception& failure) {
    result.message = failure.what();
    return result;
  }
  for (const NamedArray& a : sets_[0])
    if (!backend_.guards_intact(a.data)) {
      result.message = fmt::format("something was written just outside array {}", a.name);
      return result;
    }
  std::vector<float> got(static_cast<std::size_t>(count(output)));
  backend_.download(got.data(), device_output, bytes(count(output)));
  const Comparison comparison = compare(got, reference(output), stage.roundings(shape_));
  result.compared = true;
  result.error = comparison.error;
  result.allowed = comparison.allowed;
  if (comparison.first_wrong >= 0) {
    result.message = fmt::format("{}[{}] is {:.9g}, expected {:.9g} (error {:.2g}, allowed {:.2g})",
                                 stage.output, comparison.first_wrong, comparison.got, comparison.expected,
                                 comparison.error, comparison.allowed);
  } else if (stage.kernels != kAnyNumber && result.counts.kernels != stage.kernels) {
    result.message =
        fmt::format("it launched {} kernels, its table entry says {}", result.counts.kernels, stage.kernels);
  } else {
    result.status = "ok";
  }
  return result;
}

Counts Problem::run_once(const Stage& stage) {
  if (!stage.run) return {};
  return backend_.run([&] { stage.run(device_data(sets_[0])); });
}

Mix mix_of(const Traffic& traffic) {
  const auto read = static_cast<double>(traffic.read_bytes);
  const auto write = static_cast<double>(traffic.write_bytes);
  constexpr int kMostReads = 5, kMostWrites = 2;
  Mix best = {1, 0};
  double best_difference = INFINITY;
  for (int writes = 0; writes <= kMostWrites; ++writes)
    for (int reads = 1; reads <= kMostReads; ++reads) {
      // Share of the bytes that are writes; a later, larger mix must be clearly better.
      const double difference = std::fabs(writes / double(reads + writes) - write / (read + write));
      if (difference < best_difference - 0.01) {
        best = {reads, writes};
        best_difference = difference;
      }
    }
  return best;
}

void Problem::time(GpuBackend& gpu, std::vector<StageResult>& results) {
  constexpr std::size_t kMostSets = 128;
  std::size_t set_bytes = 0;
  for (int i = 0; i < chapter_.array_count; ++i) set_bytes += bytes(count(chapter_.arrays[i]));
  const std::size_t wanted = 3 * gpu.info().l2_bytes / set_bytes + 1;
  const std::size_t set_count = std::min(wanted, kMostSets);
  while (sets_.size() < set_count) {
    sets_.push_back(make_set({}));
    upload_inputs(sets_.back());
  }

  std::vector<StageResult*> timed;
  std::vector<Contender> contenders;
  std::vector<Stream> streams;
  for (StageResult& result : results) {
    if (result.status != "ok") continue;
    const Stage& stage = *result.stage;
    const Traffic traffic = stage.traffic ? stage.traffic(shape_) : least_traffic(stage.output);
    const auto moved = static_cast<std::size_t>(traffic.read_bytes + traffic.write_bytes);
    const Mix mix = mix_of(traffic);
    timed.push_back(&result);
    contenders.push_back(
        {[this, &stage](int set) { stage.run(device_data(sets_[static_cast<std::size_t>(set)])); }, moved});
    streams.push_back(
        {mix.reads, mix.writes, static_cast<long long>(moved / kElementBytes) / (mix.reads + mix.writes)});
  }
  for (Contender& ceiling : gpu.ceilings(streams)) contenders.push_back(std::move(ceiling));
  const std::vector<ContenderTiming> times = gpu.time(contenders, static_cast<int>(set_count));
  for (std::size_t i = 0; i < timed.size(); ++i) {
    StageResult& result = *timed[i];
    const StageResult again = check(*result.stage);
    if (again.status != "ok") {
      result.status = again.status;
      result.message = "after timing: " + again.message;
    }
    result.timed = true;
    result.time = times[i];
    result.ceiling = times[timed.size() + i];
  }
}

std::vector<Resources> Problem::resources(GpuBackend& gpu, const Stage& stage) {
  if (!stage.run) return {};
  return gpu.resources([&] { stage.run(device_data(sets_[0])); });
}

}  // namespace workbook
