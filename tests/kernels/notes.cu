#include "device.hpp"
#include "notes.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void barrier_by_warp(int* out, bool mended) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  out += 64 * blockIdx.x;
  if (mended) {
    s[t] = t;
    __syncthreads();
    out[t] = t < 32 ? s[63 - t] : -s[63 - t];
  } else if (t < 32) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
  } else {
    s[t] = t;
    __syncthreads();
    out[t] = -s[63 - t];
  }
}

__global__ void vote_by_warp(int* out, bool mended) {
  const int t = threadIdx.x;
  if (mended) {
    out[t] = __syncthreads_count(t % 2 == 0) + (t < 32 ? 0 : 100);
  } else if (t < 32) {
    out[t] = __syncthreads_count(t % 2 == 0);
  } else {
    out[t] = __syncthreads_count(t % 2 == 0) + 100;
  }
}

__global__ void barrier_or_vote(int* out, bool mended) {
  const int t = threadIdx.x;
  if (mended || t < 32) {
    out[t] = __syncthreads_or(t);
  } else {
    __syncthreads();
    out[t] = 1;
  }
}

__global__ void unequal_barriers(int* out, bool mended) {
  const int t = threadIdx.x;
  if (mended || t < 32) {
    __syncthreads();
    out[t] = 1;
    __syncthreads();
  } else {
    out[t] = 2;
    __syncthreads();
  }
}

__global__ void barrier_in_if(int* out, bool mended) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (mended) {
    if (t < 32) s[t] = t;
    __syncthreads();
    if (t < 32) out[t] = s[31 - t];
  } else if (t < 32) {
    s[t] = t;
    __syncthreads();
    out[t] = s[31 - t];
  }
}

__global__ void ragged_sums(const int* in, int* out, int n, bool mended) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (!mended && i >= n) return;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  const int pair = t % 2 == 0 && i + 1 < n ? s[t] + s[t + 1] : s[t];
  __syncthreads();
  s[t] = pair;
  __syncthreads();
  if (t > 0) return;
  int sum = 0;
  for (int j = 0; j < 64 && i + j < n; j += 2) sum += s[j];
  out[blockIdx.x] = sum;
}

__global__ void barrier_by_half_warp(int* out, bool mended) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (mended) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
  } else if (t % 32 < 16) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t] + 0 * t;
  } else {
    s[t] = t;
    __syncthreads();
    if (t > 0) out[t] = s[63 - t];
  }
}

__global__ void ordered_by_shuffle(int* out, bool mended) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  if (mended) __syncwarp();
  const int zero = __shfl_sync(0xffffffffu, t, 0);
  out[t] = zero + s[31 - t];
}

__global__ void flag_set_by_many(int* out, bool mended) {
  __shared__ int flag;
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (mended ? t == 0 : t % 2 == 0) flag = 1;
  __syncthreads();
  out[t] = flag;
}

__global__ void add_unwritten(const int* in, const int* unwritten, int* out) {
  const int t = threadIdx.x;
  out[t] = in[t];
  out[t] += unwritten[t];
}

__global__ void add_unwritten_shared(const int* in, int* out, bool mended) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (mended) s[t] = in[t];
  out[t] = in[t];
  out[t] += s[t];
}

__global__ void unwaited_copy(const int* in, int* out, bool mended) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  if (mended) __pipeline_wait_prior(0);
  out[t] = s[t];
}

__global__ void misaligned_pairs(const int* in, int2* out) {
  const int t = threadIdx.x;
  out[t] = reinterpret_cast<const int2*>(in)[t];
}

__global__ void past_the_end_by_one(const int* in, int* out, int last) {
  const int t = threadIdx.x;
  out[t] = in[t] + (t == 0 ? in[last] : 0);
}

}  // namespace kernel

void barrier_by_warp(int* out, bool mended) { launch(kernel::barrier_by_warp, 4, 64, out, mended); }
void vote_by_warp(int* out, bool mended) { launch(kernel::vote_by_warp, 1, 64, out, mended); }
void barrier_or_vote(int* out, bool mended) { launch(kernel::barrier_or_vote, 1, 64, out, mended); }
void unequal_barriers(int* out, bool mended) { launch(kernel::unequal_barriers, 1, 64, out, mended); }
void barrier_in_if(int* out, bool mended) { launch(kernel::barrier_in_if, 1, 128, out, mended); }
void ragged_sums(const int* in, int* out, int n, bool mended) {
  launch(kernel::ragged_sums, (n + 63) / 64, 64, in, out, n, mended);
}
void barrier_by_half_warp(int* out, bool mended) { launch(kernel::barrier_by_half_warp, 1, 64, out, mended); }
void ordered_by_shuffle(int* out, bool mended) { launch(kernel::ordered_by_shuffle, 1, 32, out, mended); }
void flag_set_by_many(int* out, bool mended) { launch(kernel::flag_set_by_many, 1, 64, out, mended); }
void add_unwritten(const int* in, const int* unwritten, int* out, bool mended) {
  launch(kernel::add_unwritten, 1, 64, in, mended ? in : unwritten, out);
}
void add_unwritten_shared(const int* in, int* out, bool mended) {
  launch(kernel::add_unwritten_shared, 1, 64, in, out, mended);
}
void unwaited_copy(const int* in, int* out, bool mended) {
  launch(kernel::unwaited_copy, 1, 32, in, out, mended);
}
void misaligned_pairs(const int* in, int* out, bool mended) {
  launch(kernel::misaligned_pairs, 1, 32, mended ? in : in + 1, reinterpret_cast<int2*>(out));
}
void past_the_end_by_one(const int* in, int* out, int n, bool mended) {
  launch(kernel::past_the_end_by_one, 1, 32, in, out, mended ? n - 1 : n);
}

}  // namespace DEVICE::test_kernels
