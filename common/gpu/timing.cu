#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include "gpu/buffer.hpp"
#include "gpu/launch.hpp"
#include "gpu/statistics.hpp"
#include "gpu/timing.hpp"

namespace gpu {
namespace {

constexpr int kSamples = 25;
constexpr double kSampleUs = 4000;  // a sample holds about this much work: its two ends then weigh little
constexpr int kMostRuns = 256;      // in one graph

/// out[w][i] = the sum over r of in[r][i], 16 bytes at a time: nothing but reads and writes.
template <int Reads, int Writes>
__global__ void stream_arrays(const float4* __restrict__ in, float4* __restrict__ out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 sum = in[i];
#pragma unroll
  for (int r = 1; r < Reads; ++r) {
    const float4 next = in[i + static_cast<size_t>(r) * count];
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
  }
#pragma unroll
  for (int w = 0; w < Writes; ++w) out[i + static_cast<size_t>(w) * count] = sum;
  // Without writes the sum must still be wanted, or the compiler would drop the loads. It is never NaN here.
  if (Writes == 0 && sum.x != sum.x) out[i] = sum;
}

/// Reads an array once, to fill the L2 cache with it.
__global__ void read_through(const float4* __restrict__ data, int count, float* __restrict__ out) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += data[i].x;
  if (sum != sum) *out = sum;
}

using StreamKernel = void (*)(const float4*, float4*, int);

StreamKernel stream_kernel(int reads, int writes) {
  static constexpr StreamKernel kKernels[5][3] = {
      {stream_arrays<1, 0>, stream_arrays<1, 1>, stream_arrays<1, 2>},
      {stream_arrays<2, 0>, stream_arrays<2, 1>, stream_arrays<2, 2>},
      {stream_arrays<3, 0>, stream_arrays<3, 1>, stream_arrays<3, 2>},
      {stream_arrays<4, 0>, stream_arrays<4, 1>, stream_arrays<4, 2>},
      {stream_arrays<5, 0>, stream_arrays<5, 1>, stream_arrays<5, 2>},
  };
  if (reads < 1 || reads > 5 || writes < 0 || writes > 2)
    throw std::invalid_argument("the streaming kernel reads 1 to 5 arrays and writes 0 to 2");
  return kKernels[reads - 1][writes];
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_;
};

/// What `work` launches, as a graph that has not run.
class Graph {
 public:
  explicit Graph(const std::function<void()>& work) {
    check(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(cudaStreamPerThread, &graph_);
      if (graph_) cudaGraphDestroy(graph_);
      cudaGetLastError();  // The capture's own error: the next launch must not find it.
      throw;
    }
    check(cudaStreamEndCapture(cudaStreamPerThread, &graph_), "cudaStreamEndCapture");
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator cudaGraph_t() const { return graph_; }

  std::vector<cudaGraphNode_t> kernels() const {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    check(cudaGraphGetNodes(graph_, nodes.data(), &count), "cudaGraphGetNodes");
    std::erase_if(nodes, [](cudaGraphNode_t node) {
      cudaGraphNodeType type;
      check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
      return type != cudaGraphNodeTypeKernel;
    });
    return nodes;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

/// Many runs of a contender between two events, ready to be replayed.
class Replay {
 public:
  Replay(const workbook::Contender& contender, int runs, int sets) : runs_(runs) {
    const Graph graph([&] {
      check(cudaEventRecordWithFlags(start_, cudaStreamPerThread, cudaEventRecordExternal),
            "cudaEventRecord");
      for (int run = 0; run < runs; ++run) contender.run(run % sets);
      check(cudaEventRecordWithFlags(end_, cudaStreamPerThread, cudaEventRecordExternal), "cudaEventRecord");
    });
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphUpload(executable_, cudaStreamPerThread), "cudaGraphUpload");
  }
  ~Replay() { cudaGraphExecDestroy(executable_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Microseconds a run.
  double sample() const {
    check(cudaGraphLaunch(executable_, cudaStreamPerThread), "cudaGraphLaunch");
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

/// Microseconds a run of a contender that is launched again and again, by the host's clock.
double launched_us(const workbook::Contender& contender, int runs) {
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < runs; ++run) contender.run(0);
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / runs;
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

/// How many runs make a sample of kSampleUs.
int runs_for(double us) { return std::clamp(static_cast<int>(kSampleUs / us), 1, kMostRuns); }

/// Runs of a cold sample: as many as it takes, but no set twice while all sets together would stay in the
/// cache.
int cold_runs(const workbook::Contender& contender, int sets, std::size_t l2_bytes, int wanted) {
  const bool may_wrap = contender.set_bytes * static_cast<std::size_t>(sets) >= 3 * l2_bytes;
  return may_wrap ? std::max(wanted, std::min(sets, kMostRuns)) : std::min(wanted, sets);
}

}  // namespace

std::vector<workbook::ContenderTiming> time(const std::vector<workbook::Contender>& contenders, int sets,
                                            std::size_t l2_bytes) {
  const CacheFlush flush(l2_bytes);
  std::vector<std::unique_ptr<Replay>> cold, warm;
  std::vector<int> launches;
  for (const workbook::Contender& contender : contenders) {
    const Replay trial(contender, 2, 1);
    trial.sample();
    const int runs = runs_for(trial.sample());
    cold.push_back(std::make_unique<Replay>(contender, cold_runs(contender, sets, l2_bytes, runs), sets));
    warm.push_back(std::make_unique<Replay>(contender, runs, 1));
    launches.push_back(runs);
  }

  std::vector<std::vector<double>> cold_samples(contenders.size()), warm_samples(contenders.size()),
      launched_samples(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int sample = -1; sample < kSamples; ++sample) {  // the first of each is not kept
    std::shuffle(order.begin(), order.end(), random);   // who heats the card for whom is left to chance
    for (const std::size_t i : order) {
      flush.run();
      const double cold_us = cold[i]->sample();
      const double warm_us = warm[i]->sample();
      const double host_us = launched_us(contenders[i], launches[i]);
      if (sample < 0) continue;
      launched_samples[i].push_back(host_us);
      cold_samples[i].push_back(cold_us);
      warm_samples[i].push_back(warm_us);
    }
  }

  std::vector<workbook::ContenderTiming> timings;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    timings.push_back({workbook::summarise(cold_samples[i]), workbook::summarise(warm_samples[i]),
                       workbook::summarise(launched_samples[i])});
  return timings;
}

std::vector<workbook::Contender> streaming_ceilings(const std::vector<workbook::Stream>& streams,
                                                    std::size_t l2_bytes) {
  constexpr int kThreads = 512;
  constexpr std::size_t kMostSets = 128;
  struct Plan {
    StreamKernel kernel;
    int reads, vectors;  // of each array
    std::size_t set_vectors, sets;
  };
  std::vector<Plan> plans;
  std::size_t most = 0;
  for (const workbook::Stream& stream : streams) {
    const int vectors = static_cast<int>(std::max(stream.count / 4, 1LL));
    const std::size_t set_vectors =
        static_cast<std::size_t>(vectors) * static_cast<std::size_t>(stream.reads + stream.writes);
    const std::size_t sets = std::min(3 * l2_bytes / (set_vectors * sizeof(float4)) + 1, kMostSets);
    plans.push_back({stream_kernel(stream.reads, stream.writes), stream.reads, vectors, set_vectors, sets});
    most = std::max(most, set_vectors * sets);
  }
  const auto memory = std::make_shared<Buffer<float4>>(most);
  check(cudaMemset(memory->data(), 0x3f, memory->bytes()), "cudaMemset");  // floats of 0.747, no NaN

  std::vector<workbook::Contender> contenders;
  for (const Plan& plan : plans)
    contenders.push_back(
        {[=](int set) {
           float4* in = memory->data() + static_cast<std::size_t>(set) % plan.sets * plan.set_vectors;
           // Without writes the kernel gets `in` as its output, which it does not touch.
           float4* out = in + static_cast<std::size_t>(plan.reads) * plan.vectors % plan.set_vectors;
           launch(plan.kernel, (plan.vectors + kThreads - 1) / kThreads, kThreads, in, out, plan.vectors);
         },
         plan.set_vectors * sizeof(float4)});
  return contenders;
}

std::vector<workbook::Resources> resources(const std::function<void()>& stage) {
  const Graph graph(stage);
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  std::vector<workbook::Resources> found;
  for (const cudaGraphNode_t node : graph.kernels()) {
    cudaKernelNodeParams params;
    const cudaError_t status = cudaGraphKernelNodeGetParams(node, &params);
    if (status == cudaErrorInvalidDeviceFunction) {  // a library's, which the runtime does not know
      cudaGetLastError();
      continue;
    }
    check(status, "cudaGraphKernelNodeGetParams");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, params.func), "cudaFuncGetAttributes");
    const int threads = static_cast<int>(params.blockDim.x * params.blockDim.y * params.blockDim.z);
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, params.func, threads, params.sharedMemBytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const char* name = "";
    check(cudaFuncGetName(&name, params.func), "cudaFuncGetName");
    found.push_back(
        {.kernel = name,
         .threads = threads,
         .registers = attributes.numRegs,
         .spill_bytes = attributes.localSizeBytes,
         .shared_bytes = attributes.sharedSizeBytes + params.sharedMemBytes,
         .occupancy = static_cast<double>(blocks * threads) / device.maxThreadsPerMultiProcessor});
  }
  return found;
}

int kernel_count(const std::function<void()>& stage) {
  return static_cast<int>(Graph(stage).kernels().size());
}

}  // namespace gpu
