#include "device.hpp"
#include "not_seen.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void order_of_atomics(int* data, int* count, int* out, unsigned writer) {
  if (blockIdx.x == writer) {
    data[0] = 42;
    __threadfence();
    atomicAdd(count, 1);
  } else {
    atomicAdd(count, 1);
    __threadfence();
    out[0] = data[0];
  }
}

__global__ void reader_without_fence(int* data, int* count, int* out, bool seen) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    if (!seen) __threadfence();
    atomicAdd(count, 1);
  } else if (atomicAdd(count, 1) == 1) {
    out[0] = data[0];
  }
}

__global__ void plain_read_before_swap(int* x, int* out, bool seen) {
  const int t = threadIdx.x;
  out[t] = x[0];
  if (seen)
    atomicAdd(x, 1);
  else
    atomicCAS(x, t, t + 1);
}

__global__ void race_after_warp_operations(int* x, int* out, int operations) {
  const int t = threadIdx.x;
  if (t < 32)
    for (int i = 0; i < operations; ++i) __syncwarp();
  if (t == 0) x[0] = 1;
  if (t == 32) out[0] = x[0];
}

__global__ void race_after_barrier(int* x, int* out, int operations) {
  const int t = threadIdx.x;
  if (t < 32)
    for (int i = 0; i < operations; ++i) __syncwarp();
  __syncthreads();
  if (t == 0) x[0] = 1;
  if (t == 32) out[0] = x[0];
}

__global__ void race_in_grid(int* x) {
  x[0] = threadIdx.x;
  if (threadIdx.x == 1023) x[1000] = 0;
}

__global__ void one_reader_of_many(int* x, int* count, int* out, int readers) {
  const int t = threadIdx.x;
  if (t == 0) out[0] = x[0];
  if (t > 0 && t <= readers) {
    // Each after another number of fences: reads that the device cannot remember as one group.
    for (int i = 0; i < t; ++i) __threadfence();
    out[t] = x[0];
    __threadfence();
    atomicAdd(count, 1);
  }
  if (t == 127 && atomicAdd(count, 0) == readers) x[0] = 1;
}

__device__ __noinline__ int element(const int* p, long long i) { return p[i]; }
__device__ __noinline__ void number(int* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = i;
}

__global__ void leaves_shared_array(int* out, bool seen) {
  __shared__ int a[32], b[32];
  const int t = threadIdx.x;
  a[t] = t;
  b[t] = 100 + t;
  __syncthreads();
  const long long distance = (reinterpret_cast<long long>(b) - reinterpret_cast<long long>(a)) / 4;
  out[t] = seen ? a[t + distance] : element(a, t + distance);
}

__global__ void leaves_row(const int* x, int* out, int columns) {
  const int t = threadIdx.x;
  out[t] = x[columns * t + columns];
}

__global__ void leaves_local_array(int* out, int at, bool seen) {
  int a[4];
  number(a, 4);
  out[threadIdx.x] = seen ? a[at] : element(a, at);
}

__global__ void unwritten_local(int* out, int n) {
  int a[4];
  number(a, n);
  out[threadIdx.x] = a[3];
}

template <bool kSeen>
__global__ void unused_load(const int* x, int* out, int at) {
  [[maybe_unused]] const int value = x[at];
  out[0] = kSeen ? value : 0;
}

__global__ void ldg_of_written(int* x, int* out) {
  const int t = threadIdx.x;
  x[t] = t;
  __syncthreads();
  out[t] = __ldg(&x[31 - t]);
}

template <bool kSeen>
__global__ void barriers_in_branches(int* out) {
  const int t = threadIdx.x;
  if constexpr (kSeen) {
    if (t % 2 == 0) {
      __syncthreads();
      out[t] = 1;
    } else {
      __syncthreads();
      if (t > 0) out[t] = 2;
    }
  } else {
    // clang-format off
    if (t % 2 == 0) { __syncthreads(); out[t] = 1; } else { __syncthreads(); if (t > 0) out[t] = 2; }
    // clang-format on
  }
}

template <bool kCounts>
__global__ void counts_its_polls(int* flag, int* out) {
  int polls = 0;
  while (atomicAdd(flag, 0) == 0)
    if (kCounts) ++polls;
  out[0] = polls;
}

__global__ void two_atomics_for_one(int* x, bool seen) {
  if (seen) {
    x[0] += 1;
  } else {
    const int value = atomicAdd(x, 0);
    atomicExch(x, value + 1);
  }
}

}  // namespace kernel

void order_of_atomics(int* data, int* count, int* out, bool seen) {
  launch(kernel::order_of_atomics, 2, 1, data, count, out, seen ? 1u : 0u);
}
void reader_without_fence(int* data, int* count, int* out, bool seen) {
  launch(kernel::reader_without_fence, 2, 1, data, count, out, seen);
}
void plain_read_before_swap(int* x, int* out, bool seen) {
  launch(kernel::plain_read_before_swap, 1, 64, x, out, seen);
}
void race_after_warp_operations(int* x, int* out, int operations) {
  launch(kernel::race_after_warp_operations, 1, 64, x, out, operations);
}
void race_after_barrier(int* x, int* out, int operations) {
  launch(kernel::race_after_barrier, 1, 64, x, out, operations);
}
void race_in_grid(int* x, int blocks) { launch(kernel::race_in_grid, blocks, 1024, x); }
void one_reader_of_many(int* x, int* count, int* out, int readers) {
  launch(kernel::one_reader_of_many, 1, 128, x, count, out, readers);
}
void leaves_shared_array(int* out, bool seen) { launch(kernel::leaves_shared_array, 1, 32, out, seen); }
void leaves_row(const int* x, int* out, int rows, int columns) {
  launch(kernel::leaves_row, 1, rows, x, out, columns);
}
void leaves_local_array(int* out, int at, bool seen) {
  launch(kernel::leaves_local_array, 1, 32, out, at, seen);
}
void unwritten_local(int* out, int n) { launch(kernel::unwritten_local, 1, 32, out, n); }
void unused_load(const int* x, int* out, int at, bool seen) {
  launch(seen ? kernel::unused_load<true> : kernel::unused_load<false>, 1, 1, x, out, at);
}
void ldg_of_written(int* x, int* out) { launch(kernel::ldg_of_written, 1, 32, x, out); }
void barriers_in_branches(int* out, bool seen) {
  launch(seen ? kernel::barriers_in_branches<true> : kernel::barriers_in_branches<false>, 1, 32, out);
}
void counts_its_polls(int* flag, int* out, bool seen) {
  launch(seen ? kernel::counts_its_polls<false> : kernel::counts_its_polls<true>, 1, 1, flag, out);
}
void two_atomics_for_one(int* x, bool seen) { launch(kernel::two_atomics_for_one, 1, 64, x, seen); }

}  // namespace DEVICE::test_kernels
