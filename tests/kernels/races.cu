#include "device.hpp"
#include "races.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

constexpr unsigned kAll = 0xffffffffu;

__global__ void reads_beside_atomics(int* count, int* out) {
  atomicAdd(count, 1);
  out[threadIdx.x] = count[0];
}

__global__ void read_by_many(int* count, int* out, bool mended) {
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(count, 1);
  __syncthreads();
  int next = 0, step = 0;  // 0, 1, 3, 6, 10, ...: such readers are no group
  while (next < threadIdx.x) next += ++step;
  if (blockIdx.x == 0 && next == threadIdx.x) out[threadIdx.x] = *count;
  if (blockIdx.x == 1 && threadIdx.x == 0 && !mended) out[blockDim.x] = *count;
}

__global__ void numbers_as_bytes(signed char* q) { q[threadIdx.x] = blockIdx.x; }

__global__ void shared_bytes(signed char* out) {
  __shared__ signed char s[64];
  const int t = threadIdx.x;
  s[t] = t;
  out[t] = s[t & ~3];
}

__global__ void found_in_device_memory(int* found, bool mended) { found[0] = mended ? 1 : 1 + threadIdx.x; }

__global__ void found_in_shared_memory(int* out, bool mended) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (t % 3 == 1) found = mended ? 1 : t;
  __syncthreads();
  out[t] = found;
}

__global__ void sums_of_warps(int* out, bool mended) {
  __shared__ int sums[2];
  const int t = threadIdx.x;
  int sum = t;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(kAll, sum, d);
  sums[t / 32] = mended ? sum : sum + t;
  __syncthreads();
  out[t] = sums[0] + sums[1];
}

__global__ void same_value_read_at_once(int* out, bool mended) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (t % 2 == 0) found = 1;
  if (mended) __syncthreads();
  out[t] = found;
}

/// From the CUDA C++ Programming Guide, "Atomic Functions".
__device__ double atomic_add(double* address, double val) {
  unsigned long long* address_as_ull = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *address_as_ull, assumed;
  do {
    assumed = old;
    old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__global__ void compare_and_swap_sum(double* sum, bool mended) {
  if (mended)
    atomic_add(sum, 1.0);
  else
    *sum += 1.0;
}

__global__ void mutex_of_warps(int* lock, int* sum, bool mended) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (mended) __threadfence();
  sum[0] += 32;
  if (mended) __threadfence();
  atomicExch(lock, 0);
}

__global__ void mutex_of_threads(int* locks, int* sum, bool mended) {
  int* const lock = mended ? locks : locks + threadIdx.x / 32;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  sum[0] += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void mutex_in_shared_memory(int* out, bool mended) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 5) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    if (mended) __threadfence_block();
    sum += 32;
    if (mended) __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void last_block(int* partial, int* sum, unsigned* count, bool mended) {
  const int added = __syncthreads_count(1);
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = added;
  if (mended) __threadfence();
  if (atomicInc(count, gridDim.x - 1) != gridDim.x - 1) return;
  int total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
  sum[0] = total;
}

/// The last block calls this with all of its threads; the others have returned.
__device__ void add_up(const int* partial, int* sum) {
  const int t = threadIdx.x;
  int total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(kAll, total, d);
  if (t % 32 == 0) atomicAdd(sum, total);
}

__global__ void last_block_of_threads(int* partial, int* sum, unsigned* count, bool mended) {
  __shared__ bool last;
  const int t = threadIdx.x;
  partial[blockIdx.x * blockDim.x + t] = 1;
  if (mended) __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  add_up(partial, sum);
  if (t == 0) *count = 0;  // for the next launch
}

__global__ void last_block_one_fence(int* partial, int* sum, unsigned* count, bool mended) {
  __shared__ bool last;
  const int t = threadIdx.x;
  partial[blockIdx.x * blockDim.x + t] = 1;
  if (mended) __syncthreads();
  if (t == 0) {
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) add_up(partial, sum);
}

/// Thread `writer` hands data to thread `reader`.
__global__ void volatile_flag(int* data, volatile int* flag, int* out, unsigned writer, unsigned reader,
                              bool mended) {
  if (threadIdx.x == writer) {
    data[0] = 42;
    if (mended) __threadfence_block();
    *flag = 1;
  } else if (threadIdx.x == reader) {
    while (*flag == 0) {
    }
    __threadfence_block();
    out[0] = data[0];
  }
}

__global__ void volatile_flag_between_blocks(int* data, volatile int* flag, int* out, bool mended) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    if (mended) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = data[0];
  }
}

__global__ void volatile_warp_sum(int* out, bool mended) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  volatile int* s = values;
  s[t] = t;
  s[t + 32] = 0;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (mended) {
      const int other = s[t + d];
      __syncwarp();
      s[t] = s[t] + other;
      __syncwarp();
    } else {
      s[t] = s[t] + s[t + d];
    }
  }
  if (t == 0) out[0] = s[0];
}

}  // namespace kernel

void reads_beside_atomics(int* count, int* out) { launch(kernel::reads_beside_atomics, 1, 64, count, out); }
void read_by_many(int* count, int* out, bool mended) {
  launch(kernel::read_by_many, 2, 512, count, out, mended);
}
void numbers_as_bytes(signed char* q) { launch(kernel::numbers_as_bytes, 2, 64, q); }
void shared_bytes(signed char* out) { launch(kernel::shared_bytes, 1, 64, out); }
void found_in_device_memory(int* found, bool mended) {
  launch(kernel::found_in_device_memory, 2, 64, found, mended);
}
void found_in_shared_memory(int* out, bool mended) {
  launch(kernel::found_in_shared_memory, 1, 64, out, mended);
}
void sums_of_warps(int* out, bool mended) { launch(kernel::sums_of_warps, 1, 64, out, mended); }
void same_value_read_at_once(int* out, bool mended) {
  launch(kernel::same_value_read_at_once, 1, 64, out, mended);
}
void compare_and_swap_sum(double* sum, bool mended) {
  launch(kernel::compare_and_swap_sum, 2, 128, sum, mended);
}
void mutex_of_warps(int* lock, int* sum, bool mended) {
  launch(kernel::mutex_of_warps, 2, 128, lock, sum, mended);
}
void mutex_of_threads(int* locks, int* sum, bool mended) {
  launch(kernel::mutex_of_threads, 2, 128, locks, sum, mended);
}
void mutex_in_shared_memory(int* out, bool mended) {
  launch(kernel::mutex_in_shared_memory, 2, 128, out, mended);
}
void last_block(int* partial, int* sum, unsigned* count, bool mended) {
  launch(kernel::last_block, 4, 64, partial, sum, count, mended);
}
void last_block_of_threads(int* partial, int* sum, unsigned* count, bool mended) {
  launch(kernel::last_block_of_threads, 4, 64, partial, sum, count, mended);
}
void last_block_one_fence(int* partial, int* sum, unsigned* count, bool mended) {
  launch(kernel::last_block_one_fence, 4, 64, partial, sum, count, mended);
}
void volatile_flag(int* data, int* flag, int* out, bool mended) {
  launch(kernel::volatile_flag, 1, 64, data, flag, out, 0, 32, mended);
}
void volatile_flag_waits_first(int* data, int* flag, int* out, bool mended) {
  launch(kernel::volatile_flag, 1, 64, data, flag, out, 32, 0, mended);
}
void volatile_flag_between_blocks(int* data, int* flag, int* out, bool mended) {
  launch(kernel::volatile_flag_between_blocks, 2, 1, data, flag, out, mended);
}
void volatile_warp_sum(int* out, bool mended) { launch(kernel::volatile_warp_sum, 1, 32, out, mended); }

}  // namespace DEVICE::test_kernels
