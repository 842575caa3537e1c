#include "device.hpp"
#include "spin.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__device__ int load(int* address) { return atomicAdd(address, 0); }

__device__ void hand_over(int* flag, int* value) {
  atomicExch(value, 42);
  __threadfence();
  atomicExch(flag, 1);
}

__global__ void flag_between_warps(int* flag, int* value, int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    while (load(flag) == 0) {
    }
    __threadfence();
    out[t] = load(value);
  } else if (t == 63) {
    hand_over(flag, value);
  }
}

__global__ void shared_flag_between_warps(int* out) {
  __shared__ int flag, value;
  const int t = threadIdx.x;
  if (t == 40) flag = value = 0;
  __syncthreads();
  if (t < 32) {
    while (load(&flag) == 0) {
    }
    __threadfence();
    out[t] = load(&value);
  } else if (t == 63) {
    hand_over(&flag, &value);
  }
}

__device__ __noinline__ void wait_out_of_line(int* flag) {
  while (load(flag) == 0) {
  }
}

__global__ void flag_out_of_line(int* flag, int* value, int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    wait_out_of_line(flag);
    __threadfence();
    out[t] = load(value);
  } else if (t == 63) {
    hand_over(flag, value);
  }
}

__global__ void flag_with_count(int* flag, int* value, int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    int polls = 1;
    while (load(flag) == 0) ++polls;
    __threadfence();
    out[t] = (load(value) == 42 ? 1000 : 0) + (polls > 1 ? 1 : 0);
  } else if (t == 63) {
    hand_over(flag, value);
  }
}

__global__ void volatile_flag_between_warps(int* flag, int* value, int* out) {
  const int t = threadIdx.x;
  volatile int* watched = flag;
  if (t < 32) {
    while (*watched == 0) {
    }
    __threadfence();
    out[t] = *value;
  } else if (t == 63) {
    *value = 42;
    __threadfence();
    *watched = 1;
  }
}

__global__ void shared_volatile_flag(int* out) {
  __shared__ volatile int flag;
  __shared__ int value;
  const int t = threadIdx.x;
  if (t == 40) flag = 0;
  __syncthreads();
  if (t < 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    out[t] = value;
  } else if (t == 63) {
    value = 42;
    __threadfence_block();
    flag = 1;
  }
}

__global__ void one_lane_waits(int* flag, int* out) {
  const int t = threadIdx.x;
  if (t == 0) {
    while (load(flag) == 0) {
    }
  }
  if (t == 32) atomicExch(flag, 1);
  out[t] = t;
}

__global__ void waits_before_syncwarp(int* flag, int* out) {
  const int t = threadIdx.x;
  int seen = 0;
  if (t == 32) atomicExch(flag, 7);
  if (t == 0) {
    while ((seen = load(flag)) == 0) {
    }
  }
  __syncwarp();
  seen = __shfl_sync(0xffffffffu, seen, 0);
  if (t < 32) out[t] = seen;
}

__global__ void slow_producer_in_warp(int* flag, int* work, int* out) {
  const int t = threadIdx.x;
  if (t == 0) {
    while (load(flag) == 0) {
    }
    out[0] = load(work);
  } else if (t == 31) {
    for (int i = 0; i < 1000; ++i) atomicAdd(work, 1);
    __threadfence();
    atomicExch(flag, 1);
  }
}

__global__ void ping_pong(int* turn, int rounds) {
  if (threadIdx.x % 32 != 0) return;
  const int me = threadIdx.x / 32;
  for (int r = 0; r < rounds; ++r) {
    while (load(turn) != 2 * r + me) {
    }
    __threadfence();
    atomicExch(turn, 2 * r + me + 1);
  }
}

__device__ __noinline__ void take_out_of_line(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

template <Lock kKind>
__device__ void take(int* lock) {
  if constexpr (kKind == Lock::kCompareAndSwap) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
  } else if constexpr (kKind == Lock::kExchange) {
    while (atomicExch(lock, 1) != 0) {
    }
  } else if constexpr (kKind == Lock::kTicket) {
    const int mine = atomicAdd(&lock[1], 1);
    while (load(lock) != mine) {
    }
  } else {
    take_out_of_line(lock);
  }
  __threadfence();
}

template <Lock kKind>
__device__ void give(int* lock) {
  __threadfence();
  if constexpr (kKind == Lock::kTicket)
    atomicAdd(lock, 1);
  else
    atomicExch(lock, 0);
}

/// Right only when one thread at a time does it.
__device__ int count_slowly(int* count, int* work) {
  const int before = load(count);
  for (int i = 0; i < 40; ++i) atomicAdd(work, 1);
  atomicExch(count, before + 1);
  return before;
}

template <Lock kKind>
__global__ void locked_count(int* lock, int* count, int* work, int* order) {
  take<kKind>(lock);
  order[count_slowly(count, work)] = threadIdx.x;
  give<kKind>(lock);
}

__global__ void locked_plain_count(int* lock, int* count) {
  take<Lock::kCompareAndSwap>(lock);
  *count += 1;
  give<Lock::kCompareAndSwap>(lock);
}

__global__ void locked_by_leaders(int* lock, int* count, int* work) {
  if (threadIdx.x % 32 == 0) {
    take<Lock::kCompareAndSwap>(lock);
    count_slowly(count, work);
    give<Lock::kCompareAndSwap>(lock);
  }
  __syncwarp();
  atomicAdd(work, 1);
}

__global__ void chain_of_blocks(int* flag, bool forward) {
  const int block = blockIdx.x, before = forward ? block - 1 : block + 1;
  const bool waits = before >= 0 && before < static_cast<int>(gridDim.x);
  if (threadIdx.x == 0 && waits) {
    while (load(&flag[before]) == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&flag[block], 1);
}

__global__ void grid_barrier(int* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (load(count) < static_cast<int>(gridDim.x)) {
    }
  }
  __syncthreads();
}

__global__ void lock_kept(int* lock) { take<Lock::kCompareAndSwap>(lock); }

__global__ void flag_after_barrier(int* out, bool mended) {
  __shared__ int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 32 && mended) atomicExch(&flag, 1);
  if (t < 32) {
    while (load(&flag) == 0) {
    }
  }
  __syncthreads();
  if (t == 32 && !mended) atomicExch(&flag, 1);
  out[t] = t;
}

__global__ void two_locks(int* locks, bool mended) {
  const int t = threadIdx.x;
  if (t % 32 != 0) return;
  const int first = t == 0 || mended ? 0 : 1;
  take<Lock::kCompareAndSwap>(&locks[first]);
  if (!mended) {
    // Both have their first lock before they go on.
    atomicAdd(&locks[2], 1);
    while (load(&locks[2]) < 2) {
    }
  }
  take<Lock::kCompareAndSwap>(&locks[1 - first]);
  give<Lock::kCompareAndSwap>(&locks[0]);
  give<Lock::kCompareAndSwap>(&locks[1]);
}

__global__ void flag_never_set(int* flag, bool mended) {
  if (threadIdx.x == 0 && mended) atomicExch(flag, 1);
  while (load(flag) == 0) {
  }
}

__global__ void flag_after_syncwarp(int* flag, bool mended) {
  const int t = threadIdx.x;
  if (t == 1 && mended) atomicExch(flag, 1);
  if (t == 0) {
    while (load(flag) == 0) {
    }
  }
  __syncwarp();
  if (t == 1 && !mended) atomicExch(flag, 1);
}

__global__ void index_stands_still(const int* in, int* out, int n, bool mended) {
  for (int i = threadIdx.x; i < n; i += mended ? blockDim.x : blockDim.x / 512) out[i] = in[i];
}

__global__ void empty_loop(int* out, bool mended) {
  while (!mended) {
  }
  out[threadIdx.x] = 1;
}

__global__ void jumps_to_itself(int* out, bool mended) {
  if (!mended)
    for (;;) {
    }
  out[threadIdx.x] = 1;
}

__device__ __noinline__ unsigned run_to_one(unsigned x) {
  while (x != 1) x = x * 3 + 2;
  return x;
}

__global__ void never_one_out_of_line(unsigned* out, bool mended) {
  out[threadIdx.x] = run_to_one(mended ? 1 : threadIdx.x * 2);
}

__global__ void read_again_and_again(const float* in, float* out, int n) {
  const volatile float* first = in;
  float sum = 0;
  const int times = n + threadIdx.x % 4;
  for (int i = 0; i < times; ++i) sum += *first;
  out[threadIdx.x] = sum;
}

__global__ void compute_for_long(const unsigned* in, unsigned* out, int n) {
  unsigned x = threadIdx.x;
  const int times = n + threadIdx.x % 4;
  for (int i = 0; i < times; ++i) x = x * 1664525 + 1013904223;
  out[threadIdx.x] = x + in[threadIdx.x];
}

}  // namespace kernel

void flag_between_warps(int* flag, int* value, int* out) {
  launch(kernel::flag_between_warps, 1, 64, flag, value, out);
}
void shared_flag_between_warps(int* out) { launch(kernel::shared_flag_between_warps, 1, 64, out); }
void flag_out_of_line(int* flag, int* value, int* out) {
  launch(kernel::flag_out_of_line, 1, 64, flag, value, out);
}
void flag_with_count(int* flag, int* value, int* out) {
  launch(kernel::flag_with_count, 1, 64, flag, value, out);
}
void volatile_flag_between_warps(int* flag, int* value, int* out) {
  launch(kernel::volatile_flag_between_warps, 1, 64, flag, value, out);
}
void shared_volatile_flag(int* out) { launch(kernel::shared_volatile_flag, 1, 64, out); }
void one_lane_waits(int* flag, int* out) { launch(kernel::one_lane_waits, 1, 64, flag, out); }
void waits_before_syncwarp(int* flag, int* out) { launch(kernel::waits_before_syncwarp, 1, 64, flag, out); }
void slow_producer_in_warp(int* flag, int* work, int* out) {
  launch(kernel::slow_producer_in_warp, 1, 32, flag, work, out);
}
void ping_pong(int* turn, int rounds) { launch(kernel::ping_pong, 1, 64, turn, rounds); }
void locked_count(Lock kind, int* lock, int* count, int* work, int* order) {
  launch(kind == Lock::kCompareAndSwap ? kernel::locked_count<Lock::kCompareAndSwap>
         : kind == Lock::kExchange     ? kernel::locked_count<Lock::kExchange>
         : kind == Lock::kTicket       ? kernel::locked_count<Lock::kTicket>
                                       : kernel::locked_count<Lock::kOutOfLine>,
         1, 256, lock, count, work, order);
}
void locked_plain_count(int* lock, int* count) { launch(kernel::locked_plain_count, 1, 256, lock, count); }
void locked_by_leaders(int* lock, int* count, int* work) {
  launch(kernel::locked_by_leaders, 1, 256, lock, count, work);
}
void chain_of_blocks(int* flag, int blocks, bool forward) {
  launch(kernel::chain_of_blocks, blocks, 64, flag, forward);
}
void grid_barrier(int* count, int blocks) { launch(kernel::grid_barrier, blocks, 64, count); }
void lock_kept(int* lock) { launch(kernel::lock_kept, 2, 1, lock); }
void flag_after_barrier(int* out, bool mended) { launch(kernel::flag_after_barrier, 1, 64, out, mended); }
void two_locks(int* locks, bool mended) { launch(kernel::two_locks, 1, 64, locks, mended); }
void flag_never_set(int* flag, bool mended) { launch(kernel::flag_never_set, 1, 64, flag, mended); }
void flag_after_syncwarp(int* flag, bool mended) { launch(kernel::flag_after_syncwarp, 1, 32, flag, mended); }
void index_stands_still(const int* in, int* out, int n, bool mended) {
  launch(kernel::index_stands_still, 2, 32, in, out, n, mended);
}
void empty_loop(int* out, bool mended) { launch(kernel::empty_loop, 1, 32, out, mended); }
void jumps_to_itself(int* out, bool mended) { launch(kernel::jumps_to_itself, 1, 32, out, mended); }
void never_one_out_of_line(unsigned* out, bool mended) {
  launch(kernel::never_one_out_of_line, 1, 32, out, mended);
}
void read_again_and_again(const float* in, float* out, int n) {
  launch(kernel::read_again_and_again, 1, 64, in, out, n);
}
void compute_for_long(const unsigned* in, unsigned* out, int n) {
  launch(kernel::compute_for_long, 1, 64, in, out, n);
}

}  // namespace DEVICE::test_kernels
