#include <chrono>
#include <thread>

#include "device.hpp"
#include "occupant.hpp"

namespace gpu::test_kernels {
namespace {

constexpr long long kNanoseconds = 5'000'000'000;

__device__ long long now() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// One thread per block. `started` counts the blocks.
__global__ void occupy(volatile unsigned* stop, volatile unsigned* too_late, unsigned* started) {
  const long long end = now() + kNanoseconds;
  atomicAdd_system(started, 1u);
  while (!*stop)
    if (now() > end) {
      *too_late = 1;
      return;
    }
}

/// Memory of the host that kernels can use, with the value 0.
unsigned* shared_with_host() {
  unsigned* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof *memory, cudaHostAllocMapped));
  *memory = 0;
  return memory;
}

}  // namespace

Occupant::Occupant(int blocks) : stop_(shared_with_host()), too_late_(shared_with_host()) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_ = stream;
  const int shared_bytes = most_shared_bytes();  // so that nothing else fits beside a block
  check(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  unsigned* started = shared_with_host();
  occupy<<<blocks, 1, shared_bytes, stream>>>(stop_, too_late_, started);
  check(cudaGetLastError());
  while (*static_cast<volatile unsigned*>(started) < static_cast<unsigned>(blocks))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Occupant::stop() {
  const bool in_time = !*too_late_;
  *stop_ = 1;
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
  return in_time && !*too_late_;
}

Occupant::~Occupant() {
  *stop_ = 1;
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream_));
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

}  // namespace gpu::test_kernels
