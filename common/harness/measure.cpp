#include "harness/measure.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "gpu/statistics.hpp"

namespace workbook {
namespace {

constexpr int kBurstRounds = 25, kSustainedRounds = 9;

/// Calls turn(i) for each contender below `count`, in a different order in each round.
template <class Turn>
void take_rounds(int rounds, std::size_t count, std::mt19937& random, Turn turn) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t contender : order) turn(contender);
  }
}

struct BurstSamples {
  std::vector<double> cold, warm, launched;
};

}  // namespace

std::vector<ContenderTiming> time_bursts(gpu::Turns& turns, gpu::SensorLog& sensors, std::size_t stages,
                                         std::size_t count) {
  std::vector<BurstSamples> samples(count);
  const auto turn = [&](std::size_t i) {
    sensors.start(i);
    samples[i].cold.push_back(turns.cold_us(i));
    if (i < stages) samples[i].warm.push_back(turns.warm_us(i));
    sensors.stop();  // launches one by one are not slowed down by readings
    if (i < stages) samples[i].launched.push_back(turns.launched_us(i));
  };
  std::mt19937 random(1);
  take_rounds(1, count, random, turn);  // not kept
  samples.assign(count, {});
  sensors.forget();
  take_rounds(kBurstRounds, count, random, turn);

  std::vector<ContenderTiming> timings(count);
  for (std::size_t i = 0; i < count; ++i) {
    timings[i].cold = summarise(samples[i].cold);
    timings[i].burst_clocks = sensors.of(i);
    if (i >= stages) continue;
    timings[i].warm = summarise(samples[i].warm);
    timings[i].launched = summarise(samples[i].launched);
  }
  return timings;
}

void time_sustained(gpu::Turns& turns, gpu::SensorLog& sensors, std::size_t stages,
                    std::vector<ContenderTiming>& timings) {
  std::vector<std::vector<double>> samples(stages);
  sensors.forget();
  std::mt19937 random(1);
  take_rounds(kSustainedRounds, stages, random, [&](std::size_t i) {
    if (turns.can_sustain(i)) samples[i].push_back(turns.sustained_us(i, sensors));
  });
  for (std::size_t i = 0; i < stages; ++i) {
    if (samples[i].empty()) continue;
    timings[i].sustained = summarise(samples[i]);
    timings[i].sustained_clocks = sensors.of(i);
  }
}

}  // namespace workbook
