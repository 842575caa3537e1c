#include <string>
#include <vector>

#include "gpu/current_gpu.hpp"
#include "gpu/launch.hpp"

namespace gpu {
namespace {

cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

/// A GPU beside GPU 0, with its stream.
struct Other {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  bool is_joined = true;  // it has been given nothing since join_gpus()

  explicit Other(int gpu) {
    const CurrentGpu there(gpu);
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    event = new_event();
  }
};
std::vector<Other> others;  // GPU 1 is the first

void let_reach(int gpu, int other) {
  if (!can_reach(gpu, other)) return;
  const CurrentGpu here(gpu);
  check(cudaDeviceEnablePeerAccess(other, 0), "cudaDeviceEnablePeerAccess");
}

}  // namespace

std::string gpu_name(int gpu) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
  return properties.name;
}

bool can_reach(int gpu, int other) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, gpu, other), "cudaDeviceCanAccessPeer");
  return can != 0;
}

void connect_gpus(int count) {
  static int connected = 1;
  for (; connected < count; ++connected)
    for (int other = 0; other < connected; ++other) {
      let_reach(connected, other);
      let_reach(other, connected);
    }
}

cudaStream_t stream_of_gpu(int gpu) {
  if (gpu == 0) return cudaStreamPerThread;
  while (others.size() < static_cast<std::size_t>(gpu))
    others.emplace_back(static_cast<int>(others.size()) + 1);
  Other& one = others[static_cast<std::size_t>(gpu) - 1];
  if (one.is_joined) {  // what it is given comes after what GPU 0 has been given so far
    static const cudaEvent_t so_far = new_event();
    check(cudaEventRecord(so_far, cudaStreamPerThread), "cudaEventRecord");
    const CurrentGpu there(gpu);
    check(cudaStreamWaitEvent(one.stream, so_far, 0), "cudaStreamWaitEvent");
    one.is_joined = false;
  }
  return one.stream;
}

void join_gpus() {
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i].is_joined) continue;
    {
      const CurrentGpu there(static_cast<int>(i) + 1);
      check(cudaEventRecord(others[i].event, others[i].stream), "cudaEventRecord");
    }
    check(cudaStreamWaitEvent(cudaStreamPerThread, others[i].event, 0), "cudaStreamWaitEvent");
    others[i].is_joined = true;
  }
}

}  // namespace gpu
