#include <stdlib.h>

#include <exception>

#include "device.hpp"
#include "host_calls.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void quotients(int dividend, const int* in, int* out) {
  const int t = threadIdx.x;
  if (t < 32)
    out[t] = dividend / in[t];
  else
    out[t] = dividend % in[t];
}

__global__ void inverses(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t] = 1 / in[t];
}

__global__ void other(int* out) { out[threadIdx.x] = 0; }

__global__ void call_host(int* out, HostCall call) {
  const int t = threadIdx.x;
  if (t == 20) {
    if (call == HostCall::kAbort) abort();
    if (call == HostCall::kOtherAbort) abort();  // the other one
    if (call == HostCall::kExit) exit(1);
    if (call == HostCall::kOtherExit) exit(1);  // the other one
    if (call == HostCall::kStandardExit) ::exit(1);
    if (call == HostCall::kExitAtOnce) _Exit(1);
    if (call == HostCall::kQuickExit) quick_exit(1);
    if (call == HostCall::kTerminate) std::terminate();
    if (call == HostCall::kThrow) throw t;
    if (call == HostCall::kAtomic) __atomic_fetch_add(out, 1, __ATOMIC_SEQ_CST);
    if (call == HostCall::kStatic) {
      static int value = t;
      out[t] = value;
    }
    if (call == HostCall::kLaunch) launch(other, 1, 32, out);
    if (call == HostCall::kTrapInstruction) __builtin_trap();
    if (call == HostCall::kNullFunction) {
      void (*volatile function)() = nullptr;
      function();
    }
  }
  out[t] = t;
}

__global__ void crash_in_last_block(int* x, bool crashes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (crashes && blockIdx.x == gridDim.x - 1 && threadIdx.x == 7) __builtin_trap();
  x[i] = x[i] + 1;
}

}  // namespace kernel

void quotients(int dividend, const int* in, int* out) { launch(kernel::quotients, 1, 64, dividend, in, out); }
void inverses(const int* in, int* out) { launch(kernel::inverses, 1, 64, in, out); }
void call_host(int* out, HostCall call) { launch(kernel::call_host, 1, 32, out, call); }
void crash_in_last_block(int* x, int blocks, bool crashes) {
  launch(kernel::crash_in_last_block, blocks, 64, x, crashes);
}

int descend(int n) {
  volatile int here[64];
  here[n % 64] = n;
  return n < 0 ? 0 : descend(n + 1) + here[n % 64];
}

void crash_on_host(HostCrash crash) {
  if (crash == HostCrash::kNull) {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (crash == HostCrash::kAbort) abort();  // on the host
  if (crash == HostCrash::kTrap) __builtin_trap();
  if (crash == HostCrash::kRecursion) descend(0);
}

int call_device(KernelCall call) {
  __shared__ alignas(16) float shared[64];
  static const float x[4] = {};
  switch (call) {
    case KernelCall::kBarrier:
      __syncthreads();
      return 0;
    case KernelCall::kVote:
      return __syncthreads_count(1);
    case KernelCall::kSyncWarp:
      __syncwarp();
      return 0;
    case KernelCall::kShuffle:
      return __shfl_xor_sync(0xffffffffu, 1, 1);
    case KernelCall::kBallot:
      return __any_sync(0xffffffffu, 1);
    case KernelCall::kActiveMask:
      return static_cast<int>(__activemask());
    case KernelCall::kFence:
      __threadfence();
      return 0;
    case KernelCall::kThreadIndex:
      return static_cast<int>(threadIdx.x);
    case KernelCall::kTrap:
      __trap();
    case KernelCall::kDynamicShared:
      return dynamic_shared<int>() == nullptr;
    case KernelCall::kCopy:
      __pipeline_memcpy_async(shared, x, 16);
      return 0;
    case KernelCall::kCommit:
      __pipeline_commit();
      return 0;
    case KernelCall::kFragment:
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
      nvcuda::wmma::load_matrix_sync(sums, shared, 16, nvcuda::wmma::mem_row_major);
      return sums.num_elements;
  }
  return 0;
}

}  // namespace DEVICE::test_kernels
