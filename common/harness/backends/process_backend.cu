#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/communicators.hpp"
#include "gpu/graph.hpp"
#include "gpu/resources.hpp"
#include "harness/backends/gpus.hpp"
#include "harness/backends/process_backend.hpp"
#include "system/errors.hpp"

namespace workbook {
namespace {

using gpu::Buffer;
using gpu::check;
using gpu::check_nccl;

// On either side of an array.
constexpr std::size_t kGuardBytes = 4096;
constexpr unsigned char kGuard = 0xa7;
// Small arrays share a block of this size, of which another process would open the whole: each takes its own.
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;

constexpr int kRunsPerGraph = 50, kGraphs = 20;
constexpr std::chrono::seconds kPatienceForFile{60}, kPatience{300};

/// What goes wrong in one process alone ends it: the others wait for it, and end too.
template <class Work>
void or_lost(const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    throw DeviceLost(error.what());
  }
}

class Processes : public ProcessBackend {
 public:
  Processes(const Rank& rank, ncclComm_t communicator)
      : rank_(rank), communicator_(communicator), info_(make_gpu_backend().backend->info()) {
    reaches_others_ = all_reach_all();
    for (int gpu = 0; gpu < rank.count; ++gpu) {
      char kind[sizeof cudaDeviceProp::name] = {};
      info_.name.copy(kind, sizeof kind - 1);
      broadcast(kind, kind, sizeof kind, gpu);
      kinds_.push_back(kind);
    }
  }

  DeviceInfo info() const override { return info_; }
  int gpus() const override { return rank_.count; }
  std::string kind_of(int gpu) const override { return kinds_[static_cast<std::size_t>(gpu)]; }
  std::string missing_for(int) const override {
    return reaches_others_ ? "" : "processes of one host, whose GPUs reach each other's memory";
  }
  /// The least that a process has.
  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<std::size_t>(all_together(static_cast<double>(free), ncclMin));
  }

  void* allocate(std::size_t bytes, std::size_t misalignment, const std::string&, std::size_t,
                 int gpu) override {
    Part part = {gpu, bytes, {}};
    void* memory = nullptr;
    if (gpu == rank_.me) {
      const std::size_t needed = kGuardBytes + misalignment + bytes + kGuardBytes;
      part.memory = Buffer<unsigned char>((needed + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
      memory = part.memory.data();
      check(cudaMemset(memory, kGuard, part.memory.bytes()), "cudaMemset");
    }
    const cudaIpcMemHandle_t handle = handle_from_owner(memory, gpu);
    if (gpu != rank_.me && reaches_others_) check(open(handle, &memory), "cudaIpcOpenMemHandle");
    void* data = memory ? static_cast<unsigned char*>(memory) + kGuardBytes + misalignment
                        : static_cast<void*>(&stand_ins_.emplace_back());
    parts_.emplace(data, std::move(part));
    return data;
  }
  void release(void*) override {}

  void upload(void* device, const void* host, std::size_t bytes) override {
    if (is_own(device)) check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    broadcast(device, host, bytes, parts_.at(device).gpu);
  }
  void fill(void* device, unsigned char value, std::size_t bytes) override {
    if (is_own(device)) or_lost([&] { check(cudaMemset(device, value, bytes), "cudaMemset"); });
  }
  void poison(void* device, unsigned char value, std::size_t bytes) override { fill(device, value, bytes); }

  bool guards_intact(const void* data) const override {
    char intact = is_own(data) && own_guards_intact(data);
    broadcast(&intact, &intact, 1, parts_.at(data).gpu);
    return intact;
  }

  Counts run(const std::function<void()>& stage) override {
    Counts counts;
    or_lost([&] {
      wait_for_all();  // until all have filled their arrays
      stage();
      check(cudaStreamSynchronize(cudaStreamPerThread), "kernel");
      wait_for_all();
      counts.kernels = rank_.count * gpu::kernel_count(stage);
      if (std::exchange(is_measured_, false)) microseconds_ = time(stage);
    });
    return counts;
  }

  void measure_next_run() override { is_measured_ = true; }
  double microseconds() const override { return microseconds_; }

 private:
  /// An array of a GPU, and its memory where that GPU is this process's.
  struct Part {
    int gpu;
    std::size_t bytes;
    Buffer<unsigned char> memory;
  };

  bool is_own(const void* data) const { return parts_.at(data).gpu == rank_.me; }

  /// Whether each process can use the memory of every other one.
  bool all_reach_all() const {
    const Buffer<unsigned char> own(kBlockBytes);
    bool all = true;
    for (int gpu = 0; gpu < rank_.count; ++gpu) {
      const cudaIpcMemHandle_t handle = handle_from_owner(own.data(), gpu);
      void* memory = nullptr;
      if (gpu == rank_.me) continue;
      if (open(handle, &memory) == cudaSuccess)
        check(cudaIpcCloseMemHandle(memory), "cudaIpcCloseMemHandle");
      else
        all = false;
    }
    cudaGetLastError();                      // it has been dealt with: the next launch must not find it
    return all_together(all, ncclMin) == 1;  // which waits, so nobody frees what another still opens
  }

  /// By which other processes open the memory that `owner` has given here.
  cudaIpcMemHandle_t handle_from_owner(void* memory, int owner) const {
    cudaIpcMemHandle_t handle = {};
    if (owner == rank_.me) check(cudaIpcGetMemHandle(&handle, memory), "cudaIpcGetMemHandle");
    broadcast(&handle, &handle, sizeof handle, owner);
    return handle;
  }

  static cudaError_t open(const cudaIpcMemHandle_t& handle, void** memory) {
    return cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess);
  }

  bool own_guards_intact(const void* data) const {
    const Part& part = parts_.at(data);
    const auto* begin = static_cast<const unsigned char*>(data);
    std::vector<unsigned char> bytes(part.memory.bytes());
    check(cudaMemcpy(bytes.data(), part.memory.data(), bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const auto first = bytes.begin() + (begin - part.memory.data());
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    return std::all_of(bytes.begin(), first, is_guard) &&
           std::all_of(first + static_cast<std::ptrdiff_t>(part.bytes), bytes.end(), is_guard);
  }

  /// Copies what `source`, on the host or the GPU, holds in process `from` to `host` in all processes.
  void broadcast(const void* source, void* host, std::size_t bytes, int from) const {
    if (staging_.count() < bytes) staging_ = Buffer<unsigned char>(bytes);
    unsigned char* staging = staging_.data();
    if (from == rank_.me) check(cudaMemcpy(staging, source, bytes, cudaMemcpyDefault), "cudaMemcpy");
    check_nccl(ncclBroadcast(staging, staging, bytes, ncclUint8, from, communicator_, cudaStreamPerThread),
               "ncclBroadcast");
    wait_for_library();
    check(cudaMemcpy(host, staging, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

  /// The least or the largest of what the processes say.
  double all_together(double value, ncclRedOp_t operation) const {
    check(cudaMemcpy(number_.data(), &value, sizeof value, cudaMemcpyHostToDevice), "cudaMemcpy");
    check_nccl(ncclAllReduce(number_.data(), number_.data(), 1, ncclFloat64, operation, communicator_,
                             cudaStreamPerThread),
               "ncclAllReduce");
    wait_for_library();
    check(cudaMemcpy(&value, number_.data(), sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

  /// Until NCCL has exchanged what it was given; not for ever, since another process may have ended.
  void wait_for_library() const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    cudaError_t state = cudaErrorNotReady;
    ncclResult_t failed = ncclSuccess;
    while (state == cudaErrorNotReady && failed == ncclSuccess && std::chrono::steady_clock::now() < end) {
      state = cudaStreamQuery(cudaStreamPerThread);
      check_nccl(ncclCommGetAsyncError(communicator_, &failed), "ncclCommGetAsyncError");
    }
    cudaGetLastError();  // "not ready", which the next launch must not find
    if (state == cudaSuccess) return;
    ncclCommAbort(communicator_);
    check_nccl(failed, "NCCL");
    if (state != cudaErrorNotReady) check(state, "NCCL");
    throw DeviceLost("the other processes have not come this far within " +
                     std::to_string(kPatience.count()) + " s: has one of them ended?");
  }
  void wait_for_all() const { all_together(0, ncclMax); }

  double time(const std::function<void()>& stage) const {
    const gpu::Graph graph([&] {
      for (int run = 0; run < kRunsPerGraph; ++run) stage();
    });
    cudaGraphExec_t runs;
    check(cudaGraphInstantiate(&runs, graph, 0), "cudaGraphInstantiate");
    const gpu::Event start, end;
    std::vector<double> times;
    for (int i = 0; i < kGraphs; ++i) {
      wait_for_all();
      check(cudaEventRecord(start, cudaStreamPerThread), "cudaEventRecord");
      check(cudaGraphLaunch(runs, cudaStreamPerThread), "cudaGraphLaunch");
      check(cudaEventRecord(end, cudaStreamPerThread), "cudaEventRecord");
      check(cudaEventSynchronize(end), "kernel");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
      times.push_back(all_together(1e3 * milliseconds / kRunsPerGraph, ncclMax));
    }
    check(cudaGraphExecDestroy(runs), "cudaGraphExecDestroy");
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  Rank rank_;
  ncclComm_t communicator_;
  DeviceInfo info_;
  std::vector<std::string> kinds_;
  bool reaches_others_ = false;  // each process each other one's memory
  bool is_measured_ = false;
  double microseconds_ = 0;
  std::map<const void*, Part> parts_;
  std::deque<char> stand_ins_;  // addresses for arrays that are out of reach
  mutable Buffer<unsigned char> staging_;
  Buffer<double> number_{1};
};

/// The GPU of this host that the process takes.
void take_gpu(int on_host) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0)
    throw MachineError(std::string("no GPU can be used: ") + cudaGetErrorString(status));
  // A launcher may show each process its own GPU alone.
  check(cudaSetDevice(on_host % count), "cudaSetDevice");
}

ncclUniqueId new_id() {
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  return id;
}

ncclUniqueId id_through(const std::string& file, int me) {
  if (me == 0) {
    const ncclUniqueId id = new_id();
    leave_in_file(file, std::string(id.internal, sizeof id.internal));
    return id;
  }
  const std::string bytes = take_from_file(file, kPatienceForFile);
  ncclUniqueId id;
  if (bytes.size() != sizeof id.internal)
    throw UsageError("--id-file " + file + ": it holds no id of NCCL's");
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return id;
}

}  // namespace

std::unique_ptr<ProcessBackend> join_processes(const Rank& rank, const std::string& id_file) {
  if (id_file.empty() && rank.address.empty())
    throw UsageError(
        "nothing says where the processes meet: give --id-file, a file in a folder that all of them see, or "
        "set NCCL_COMM_ID to the host and a free port of process 0, as in node1:29501");
  take_gpu(rank.on_host);
  if (id_file.empty()) setenv("NCCL_COMM_ID", rank.address.c_str(), 1);  // then all get the same id
  const ncclUniqueId id = id_file.empty() ? new_id() : id_through(id_file, rank.me);
  std::vector<ncclComm_t>& all = gpu::made_communicators();
  all.assign(static_cast<std::size_t>(rank.count), nullptr);
  ncclComm_t& own = all[static_cast<std::size_t>(rank.me)];
  check_nccl(ncclCommInitRank(&own, rank.count, id, rank.me), "ncclCommInitRank");
  if (!id_file.empty() && rank.me == 0) std::remove(id_file.c_str());
  gpu::own_gpu = rank.me;
  auto processes = std::make_unique<Processes>(rank, own);
  if (const std::string why = why_not_shared(*processes, rank.count); !why.empty()) throw MachineError(why);
  return processes;
}

}  // namespace workbook
