#include <algorithm>
#include <chrono>
#include <memory>

#include "gpu/buffer.hpp"
#include "gpu/graph.hpp"
#include "gpu/launch.hpp"
#include "gpu/timing.hpp"

namespace gpu {
namespace {

using workbook::Contender;
using Clock = std::chrono::steady_clock;

constexpr double kBurstUs = 4000;  // so much work that the two ends of a burst weigh little
constexpr int kMostRuns = 256;     // in one graph
constexpr std::chrono::milliseconds kHalfTurn(500);

/// Reads an array once, to fill the L2 cache with it.
__global__ void read_through(const float4* __restrict__ data, int count, float* __restrict__ out) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += data[i].x;
  if (sum != sum) *out = sum;
}

/// Many runs of a contender between two events, ready to be replayed.
class Replay {
 public:
  Replay(const Contender& contender, int runs, int sets) : runs_(runs) {
    const Graph graph([&] {
      check(cudaEventRecordWithFlags(start_, cudaStreamPerThread, cudaEventRecordExternal),
            "cudaEventRecord");
      for (int run = 0; run < runs; ++run) contender.run(run % sets);
      join_gpus();
      check(cudaEventRecordWithFlags(end_, cudaStreamPerThread, cudaEventRecordExternal), "cudaEventRecord");
    });
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphUpload(executable_, cudaStreamPerThread), "cudaGraphUpload");
  }
  ~Replay() { cudaGraphExecDestroy(executable_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  int runs() const { return runs_; }
  /// Puts a replay into the queue.
  void launch() const { check(cudaGraphLaunch(executable_, cudaStreamPerThread), "cudaGraphLaunch"); }

  /// Microseconds per run of one replay.
  double sample() const {
    launch();
    check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_), "cudaEventElapsedTime");
    return 1e3 * milliseconds / runs_;
  }

 private:
  Event start_, end_;
  cudaGraphExec_t executable_ = nullptr;
  int runs_;
};

/// Replays for that long, with one replay running and one queued, so that the GPU never waits for the host.
/// Returns how many runs that were; the last of them may not have ended.
long long replay_for(const Replay& replay, Clock::duration duration) {
  const Event ended[2];
  const Clock::time_point end = Clock::now() + duration;
  long long runs = 0;
  for (int i = 0; i == 0 || Clock::now() < end; ++i) {
    replay.launch();
    check(cudaEventRecord(ended[i % 2], cudaStreamPerThread), "cudaEventRecord");
    if (i > 0) check(cudaEventSynchronize(ended[(i - 1) % 2]), "cudaEventSynchronize");
    runs += replay.runs();
  }
  return runs;
}

/// Microseconds per run of a contender that is launched again and again, by the host's clock.
double time_launches(const Contender& contender, int runs) {
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  const auto start = Clock::now();
  for (int run = 0; run < runs; ++run) contender.run(0);
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / runs;
}

/// Three times the L2 cache of data that no contender uses.
class CacheFlush {
 public:
  explicit CacheFlush(std::size_t l2_bytes) : data_(3 * l2_bytes / sizeof(float4)), sink_(1) {
    check(cudaMemset(data_.data(), 0, data_.bytes()), "cudaMemset");
  }
  void run() const {
    launch(read_through, 1024, 256, data_.data(), static_cast<int>(data_.count()), sink_.data());
  }

 private:
  Buffer<float4> data_;
  Buffer<float> sink_;
};

/// How many runs make a burst of kBurstUs.
int runs_for(double us) { return std::clamp(static_cast<int>(kBurstUs / us), 1, kMostRuns); }

/// One contender, ready for its turns.
struct Ready {
  Contender contender;
  bool may_wrap;  // all sets together do not stay in the cache, so a set may be used again
  int runs;       // of a burst
  std::unique_ptr<Replay> cold, warm;

  Ready(const Contender& c, int sets, std::size_t l2_bytes)
      : contender(c), may_wrap(c.set_bytes * static_cast<std::size_t>(sets) >= 3 * l2_bytes) {
    reset();
    const Replay trial(contender, 2, 1);
    trial.sample();
    runs = runs_for(trial.sample());
    const int cold_runs = may_wrap ? std::max(runs, std::min(sets, kMostRuns)) : std::min(runs, sets);
    cold = std::make_unique<Replay>(contender, cold_runs, sets);
    warm = std::make_unique<Replay>(contender, runs, 1);
  }
  void reset() const {
    if (contender.reset) contender.reset();
  }
};

class ReadyTurns : public Turns {
 public:
  ReadyTurns(const std::vector<Contender>& contenders, int sets, std::size_t l2_bytes) : flush_(l2_bytes) {
    for (const Contender& contender : contenders) ready_.emplace_back(contender, sets, l2_bytes);
  }

  double cold_us(std::size_t contender) override {
    ready_[contender].reset();
    flush_.run();
    return ready_[contender].cold->sample();
  }
  double warm_us(std::size_t contender) override {
    ready_[contender].reset();
    return ready_[contender].warm->sample();
  }
  double launched_us(std::size_t contender) override {
    ready_[contender].reset();
    return time_launches(ready_[contender].contender, ready_[contender].runs);
  }

  bool can_sustain(std::size_t contender) const override { return ready_[contender].may_wrap; }
  double sustained_us(std::size_t contender, SensorLog& log) override {
    ready_[contender].reset();
    const Replay& replay = *ready_[contender].cold;
    const Event half, end;
    replay_for(replay, kHalfTurn);
    check(cudaEventRecord(half, cudaStreamPerThread), "cudaEventRecord");
    log.start(contender);
    const long long runs = replay_for(replay, kHalfTurn);
    check(cudaEventRecord(end, cudaStreamPerThread), "cudaEventRecord");
    log.stop();
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, half, end), "cudaEventElapsedTime");
    return 1e3 * milliseconds / static_cast<double>(runs);
  }

 private:
  CacheFlush flush_;
  std::vector<Ready> ready_;
};

}  // namespace

std::unique_ptr<Turns> turns(const std::vector<Contender>& contenders, int sets, std::size_t l2_bytes) {
  return std::make_unique<ReadyTurns>(contenders, sets, l2_bytes);
}

}  // namespace gpu
