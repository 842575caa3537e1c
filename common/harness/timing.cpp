/// \file
/// How a Problem times its stages: sets of inputs that leave the caches, and the streaming kernels that are
/// their ceilings.
#include <algorithm>
#include <utility>

#include "gpu/statistics.hpp"
#include "harness/measure.hpp"
#include "harness/problem.hpp"

namespace workbook {

Mix mix_of(const Traffic& traffic) {
  const auto written = static_cast<double>(traffic.write_bytes);
  const double share = written / (static_cast<double>(traffic.read_bytes) + written);
  constexpr int kMostReads = 5, kMostWrites = 2;
  constexpr double kNear = 0.005;
  Mix best = {1, 0};
  double best_share = 0;
  for (int writes = 0; writes <= kMostWrites; ++writes)
    for (int reads = 1; reads <= kMostReads; ++reads) {
      const double of_mix = writes / double(reads + writes);
      if (of_mix > share + kNear || of_mix <= best_share) continue;
      best = {reads, writes};
      best_share = of_mix;
    }
  return best;
}

bool is_above_ceiling(const Ratio& share, const Traffic& dram, int kernels, std::size_t l2_bytes) {
  constexpr double kLeastCaches = 4;
  // The same kernel takes up to 0.3 % more or less time on arrays at other places in memory (H200,
  // 2026-11-22).
  constexpr double kOfPlaces = 0.005;
  const auto bytes = static_cast<double>(dram.memory_bytes()), cache = static_cast<double>(l2_bytes);
  const double may_be_spared = 2 * cache * std::max(kernels - 1, 0);
  return bytes >= kLeastCaches * cache && share.interval &&
         share.interval->low * (1 - may_be_spared / bytes) > 1 + kOfPlaces;
}

Contender Problem::contender(const Stage& stage) {
  return {[this, &stage](int set) { stage.run(data_of(sets_[static_cast<std::size_t>(set)])); },
          static_cast<std::size_t>(least_bytes(stage.output)), stage.name, [this] { clear_states(); }};
}

/// As before the first run of a stage: what another one leaves may mean something else.
void Problem::clear_states() {
  for (const Array* array : chapter_.arrays) {
    if (array->role != Role::kState) continue;
    for (const NamedArrays& set : sets_)
      for (int gpu = 0; gpu < gpus_; ++gpu)
        backend_.fill(data_of(set).elements(*array, gpu), 0, bytes_on_gpu(*array));
  }
}

/// Makes so many sets of inputs that even the contender that touches the fewest bytes finds none of its
/// inputs in L2. Returns how many there are.
int Problem::make_sets(const GpuBackend& gpu, const std::vector<Contender>& contenders) {
  constexpr std::size_t kMostSets = 128;
  std::size_t fewest = SIZE_MAX;
  for (const Contender& contender : contenders) fewest = std::min(fewest, contender.set_bytes);
  const std::size_t wanted = std::min(3 * gpu.info().l2_bytes / fewest + 1, kMostSets);
  while (sets_.size() < wanted) {
    sets_.push_back(make_set({}));
    upload_inputs(sets_.back(), false);
  }
  return static_cast<int>(wanted);
}

std::unique_ptr<gpu::Turns> Problem::turns(GpuBackend& gpu, const std::vector<const Stage*>& stages) {
  std::vector<Contender> contenders;
  for (const Stage* stage : stages) contenders.push_back(contender(*stage));
  const int sets = make_sets(gpu, contenders);
  return gpu.turns(contenders, sets);
}

namespace {

/// The stream that a stage's ceiling moves.
Stream stream_of(const Traffic& dram) {
  const Mix mix = mix_of(dram);
  return {mix.reads, mix.writes,
          dram.memory_bytes() / static_cast<long long>(sizeof(float)) / (mix.reads + mix.writes)};
}

/// The contenders of a run: stages, and after them the streaming kernels of their ceilings. Stages with the
/// same stream share a ceiling.
struct Lineup {
  std::vector<Contender> contenders;
  std::vector<std::vector<std::size_t>> ceilings;  // for each stage, the numbers of its streaming kernels

  Lineup(GpuBackend& gpu, std::vector<Contender> stages, const std::vector<Stream>& streams)
      : contenders(std::move(stages)), ceilings(streams.size()) {
    std::vector<Stream> distinct;
    for (const Stream& stream : streams)
      if (std::find(distinct.begin(), distinct.end(), stream) == distinct.end()) distinct.push_back(stream);
    const std::vector<std::vector<Contender>> kernels = gpu.ceilings(distinct);
    for (std::size_t d = 0; d < distinct.size(); ++d)
      for (const Contender& kernel : kernels[d]) {
        for (std::size_t i = 0; i < streams.size(); ++i)
          if (streams[i] == distinct[d]) ceilings[i].push_back(contenders.size());
        contenders.push_back(kernel);
      }
  }
};

}  // namespace

void Problem::time(GpuBackend& gpu, gpu::SensorLog& sensors, bool sustained,
                   std::vector<StageResult>& results) {
  std::vector<StageResult*> timed;
  std::vector<Contender> stages;
  std::vector<Stream> streams;
  for (StageResult& result : results) {
    if (result.status != Status::kOk) continue;
    timed.push_back(&result);
    stages.push_back(contender(*result.stage));
    // Kernels of several GPUs wait for each other, and NVLink: no streaming kernel is their ceiling.
    if (gpus_ == 1) streams.push_back(stream_of(dram_traffic(chapter_, *result.stage, shape_)));
  }
  const int sets = make_sets(gpu, stages);
  const Lineup lineup(gpu, std::move(stages), streams);
  const std::unique_ptr<gpu::Turns> turns = gpu.turns(lineup.contenders, sets);
  std::vector<ContenderTiming> times = time_bursts(*turns, sensors, timed.size(), lineup.contenders.size());
  if (sustained) time_sustained(*turns, sensors, timed.size(), times);

  const auto cold_median = [&](std::size_t contender) { return times[contender].cold.median; };
  for (std::size_t i = 0; i < timed.size(); ++i) {
    StageResult& result = *timed[i];
    const StageResult again = check(*result.stage);
    if (again.status != Status::kOk) {
      result.status = again.status;
      result.message = "after timing: " + again.message;
    }
    result.timed = true;
    result.time = times[i];
    if (gpus_ > 1) continue;
    const std::size_t ceiling = *std::ranges::min_element(lineup.ceilings[i], {}, cold_median);
    result.ceiling = times[ceiling].cold;
    result.ceiling_kernel = lineup.contenders[ceiling].name;
    result.share_of_ceiling = paired_ratio(result.ceiling.samples, result.time.cold.samples);
    result.above_ceiling =
        is_above_ceiling(result.share_of_ceiling, dram_traffic(chapter_, *result.stage, shape_),
                         result.counts.kernels, gpu.info().l2_bytes);
  }
}

std::vector<Resources> Problem::resources(GpuBackend& gpu, const Stage& stage) {
  return gpu.resources([&] { stage.run(data_of(sets_[0])); });
}

}  // namespace workbook
