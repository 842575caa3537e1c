#include "device.hpp"
#include "gpus.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void store(int* x, int gpu) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 100000 * gpu + i;
}

__device__ void set(int* flag, Exchange how) {
  if (how == Exchange::kFenceOfDevice)
    __threadfence();
  else if (how != Exchange::kNoFence)
    __threadfence_system();
  if (how == Exchange::kRightByAtomics)
    atomicExch_system(flag, 1);
  else if (how == Exchange::kAtomicOfDevice)
    atomicExch(flag, 1);
  else
    *static_cast<volatile int*>(flag) = 1;
}

// A loop for each way to poll: clang enters one loop with a choice in it at several places, and such a loop
// is not followed.
__device__ void wait(int* flag, int value, Exchange how) {
  if (how == Exchange::kRightByAtomicPolls) {
    while (atomicAdd_system(flag, 0) != value) {
    }
  } else if (how == Exchange::kRightByRelaxedPolls) {
    while (__ldcv(flag) != value) {
    }
  } else {
    while (*static_cast<volatile int*>(flag) != value) {
    }
  }
}

__global__ void exchange(int gpus, int me, OnGpus flags, OnGpus x, int* out, Exchange how) {
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (how != Exchange::kRightInTwoLaunches) x.of[me][i] = 100000 * me + i;
  if (how != Exchange::kNoBarrier) __syncthreads();
  if (t < gpus) {
    const int to = how == Exchange::kOtherGpu && me == 0 && t == gpus - 1 ? 0 : t;
    set(&flags.of[to][blockIdx.x * gpus + me], how);
    int* const flag = &flags.of[me][blockIdx.x * gpus + t];
    if (how != Exchange::kNoWait) wait(flag, how == Exchange::kOtherValue ? 2 : 1, how);
    if (how == Exchange::kFenceOfDeviceAfter)
      __threadfence();
    else if (how != Exchange::kNoFenceAfter)
      __threadfence_system();
  }
  __syncthreads();
  int sum = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) sum += x.of[gpu][i];
  out[i] = sum;
}

__global__ void count(int* count, int times) {
  for (int i = 0; i < times; ++i) atomicAdd_system(count, 1);
}

__global__ void copy(const int* x, int* out, int offset) { out[threadIdx.x] = x[threadIdx.x + offset]; }

}  // namespace kernel

void exchange(int gpus, int blocks, const OnGpus& flags, const OnGpus& x, const OnGpus& out, Exchange how) {
  on_each_gpu(gpus, [&](int gpu) {
    if (how == Exchange::kRightInTwoLaunches) launch(kernel::store, blocks, 64, x.of[gpu], gpu);
    launch(kernel::exchange, blocks, 64, gpus, gpu, flags, x, out.of[gpu], how);
  });
}

void count_together(int* count, int times) {
  on_each_gpu(2, [&](int) { launch(kernel::count, 1, 1, count, times); });
}

void read_past_end(const OnGpus& x, const OnGpus& out) {
  on_each_gpu(2, [&](int gpu) { launch(kernel::copy, 1, 32, x.of[1 - gpu], out.of[gpu], gpu); });
}

}  // namespace DEVICE::test_kernels
