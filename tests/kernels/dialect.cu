#include "device.hpp"
#include "dialect.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

constexpr unsigned kAll = 0xffffffffu;

__global__ void shuffles(int* out, int n, int width) {
  const int t = threadIdx.x;
  out[4 * t] = __shfl_sync(kAll, t, t + n, width);
  out[4 * t + 1] = __shfl_up_sync(kAll, t, n, width);
  out[4 * t + 2] = __shfl_down_sync(kAll, t, n, width);
  out[4 * t + 3] = __shfl_xor_sync(kAll, t, n, width);
}

__global__ void wide_shuffles(double* out) {
  const int t = threadIdx.x;
  const double mine = 1.0 / (t + 1);
  const unsigned long long bits = 0x123456789abcdef0ull + t;
  out[2 * t] = __shfl_xor_sync(kAll, mine, 1);
  out[2 * t + 1] = static_cast<double>(__shfl_sync(kAll, bits, 31) - 0x123456789abcdef0ull);
}

__global__ void votes(unsigned* out) {
  const int t = threadIdx.x, third = t % 3 == 0;
  unsigned* mine = out + 6 * t;
  mine[0] = __ballot_sync(kAll, third);
  mine[1] = __any_sync(kAll, third);
  mine[2] = __all_sync(kAll, third);
  mine[3] = __syncthreads_count(third);
  mine[4] = __syncthreads_and(third);
  mine[5] = __syncthreads_or(third);
}

__global__ void active_lanes(unsigned* out) {
  out[threadIdx.x] = 0;
  if (threadIdx.x < 20) out[threadIdx.x] = __activemask();
}

__global__ void half_warps(int* out) {
  const int t = threadIdx.x;
  const unsigned half = t < 16 ? 0x0000ffffu : 0xffff0000u;
  int sum = t;
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(half, sum, d);
  } else {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(half, sum, d);
  }
  out[t] = sum;
}

__global__ void atomics(int* out, int n, int bins) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  atomicAdd(&out[t % bins], 1);
  atomicMin(&out[bins], t);
  atomicMax(&out[bins + 1], t);
}

__global__ void distinct_atomics(float* out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) atomicAdd(&out[t], 1.0f);
}

__global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__device__ inline float tree_sum(float value) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = value;
  __syncthreads();
  for (unsigned d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  return s[0];
}

__global__ void last_block_sum(const float* in, float* partial, float* sum, unsigned* count, int n) {
  __shared__ bool last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float mine = tree_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  const float total = tree_sum(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) sum[0] = total;
}

__global__ void shuffle_sum(const float* in, float* out, int n) {
  __shared__ float warps[8];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float sum = i < n ? in[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(kAll, sum, d);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < 8 ? warps[t] : 0.0f;
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(kAll, sum, d);
  if (t == 0) out[blockIdx.x] = sum;
}

template <class Vector>
__global__ void copy_vectors(const Vector* in, Vector* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}

__global__ void conversions(const float* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[2 * i] = __float2int_rn(in[i]);
  out[2 * i + 1] = __float2int_rz(in[i]);
}

__global__ void volatile_accesses(int* x, int* out) {
  volatile int* v = x + threadIdx.x;
  *v = 1;
  *v = 2;
  out[threadIdx.x] = *v + *v;
}

__global__ void copy_blocks(const float* in, float* out) {
  memcpy(out + 64 * threadIdx.x, in + 64 * threadIdx.x, 256);
}

__global__ void normalise_rows(const float* in, float* out, bool mended) {
  __shared__ float shared[32];
  const int t = threadIdx.x;
  const float x = in[blockIdx.x * 32 + t];
  shared[t] = x;
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) shared[t] += shared[t + d];
    __syncthreads();
  }
  const float mean = shared[0] / 32;
  if (mended) __syncthreads();
  shared[t] = (x - mean) * (x - mean);
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) shared[t] += shared[t + d];
    __syncthreads();
  }
  out[blockIdx.x * 32 + t] = (x - mean) / sqrtf(shared[0] / 32 + 1e-5f);
}

__global__ void warp_tail_sum(const float* in, float* out, bool mended) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  for (int d = 32; d > 0; d /= 2) {
    const float other = s[t + d < 64 ? t + d : t];
    if (mended) __syncwarp();
    s[t] += other;
    if (mended) __syncwarp();
  }
  if (t == 0) out[0] = s[0];
}

__global__ void read_unwritten(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void shift_in_place(float* x, float* y, bool mended) {
  const int i = threadIdx.x;
  if (i == 0) return;
  if (mended)
    y[i] = x[i] + x[i - 1];
  else
    x[i] += x[i - 1];
}

__global__ void one_sum_for_all(float* out, bool mended) {
  if (threadIdx.x == 0) out[mended ? blockIdx.x : 0] = blockIdx.x;
}

__global__ void last_block_by_number(const float* in, float* partial, float* sum) {
  const float mine = tree_sum(in[blockIdx.x * 256 + threadIdx.x]);
  if (threadIdx.x == 0) partial[blockIdx.x] = mine;
  if (blockIdx.x != gridDim.x - 1) return;
  __syncthreads();
  const float total = tree_sum(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) sum[0] = total;
}

__global__ void wait_for_flag(volatile int* flag, bool mended) {
  if (mended) flag[0] = 1;
  while (flag[0] == 0) {
  }
}

__global__ void bytes_side_by_side(signed char* out, bool mended) {
  __shared__ signed char s[64];
  const int t = threadIdx.x;
  s[mended ? t : t / 2] = static_cast<signed char>(t);
  __syncthreads();
  out[t] = s[mended ? t : 0];
}

__global__ void bytes_in_turn(signed char* bytes, signed char* out) {
  __shared__ signed char s[4];
  const int t = threadIdx.x;
  if (t == 0) s[0] = bytes[0] = 10;
  __syncthreads();
  if (t == 0) s[1] = bytes[1] = 11;
  const signed char first = s[0] + bytes[0];
  __syncwarp();
  if (t == 0) s[2] = bytes[2] = 12;
  out[t] = first + s[1] + bytes[1];
}

__global__ void two_barriers(float* out, bool mended) {
  if (mended) {
    __syncthreads();
  } else if (threadIdx.x < 16) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
  }
}

__global__ void missing_lane(int* out, bool mended) {
  const int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_xor_sync(mended ? 0xffffu : kAll, t, 1);
}

__global__ void foreign_mask(int* out, bool mended) {
  const int t = threadIdx.x;
  out[t] = __shfl_xor_sync(mended ? kAll : 0x0000ffffu, t, 1);
}

__global__ void absent_source(int* out, bool mended) {
  const int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_sync(0xffffu, t, mended ? 15 : 16);
}

// The sum has only values of the mask's lanes: the values of others are read and dropped.
__global__ void sum_of_some(const float* in, float* out, int n, bool used) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(kAll, t < n);
  if (t >= n) return;
  float sum = in[t];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_down_sync(mask, sum, offset);
    if (used || t + offset < n) sum += other;
  }
  if (t == 0) out[0] = sum;
}

__global__ void most_of_some(const float* in, float* out, int n, bool least) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(kAll, t < n);
  if (t >= n) return;
  float best = in[t];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_down_sync(mask, best, offset);
    best = least ? fminf(best, other) : fmaxf(best, other);
  }
  if (t == 0) out[0] = best;
}

__global__ void sums_of_four(const float4* in, float* out, int how) {
  const int t = threadIdx.x;
  if (how == 0) out[t] = in[t].x + in[t].y + in[t].z + in[t].w;
  if (how == 1) {
    const float4& v = in[t];
    out[t] = v.x + v.y + v.z + v.w;
  }
  if (how == 2) {
    const float4 v = in[t];
    out[t] = v.x + v.y + v.z + v.w;
  }
}

__global__ void aligned_arrays(float* out) {
  __shared__ alignas(16) float first[36];
  alignas(float4) __shared__ float second[36];
  __shared__ __align__(16) float third[36];
  const int t = threadIdx.x;
  first[t] = second[t] = third[t] = t;
  __syncthreads();
  if (t < 8) {
    const float4 a = reinterpret_cast<float4*>(first)[t], b = reinterpret_cast<float4*>(second)[t],
                 c = reinterpret_cast<float4*>(third)[t];
    out[t] = a.x + b.y + c.w;
  }
}

struct alignas(16) Quad {
  float value[4];
};
static_assert(alignof(Quad) == 16);

__global__ void small_dynamic_shared(float* out) {
  float* s = dynamic_shared<float>();
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x];
}

__device__ float g_program_global;

__global__ void host_global(float* out, bool mended) {
  if (mended)
    out[threadIdx.x] = 1;
  else
    g_program_global = threadIdx.x;
}

}  // namespace kernel

static int block_count(int n) { return (n - 1) / 256 + 1; }

template <class Vector>
static void copy(const float* in, float* out, int n) {
  const int count = n * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(Vector));
  launch(kernel::copy_vectors<Vector>, block_count(count), 256, reinterpret_cast<const Vector*>(in),
         reinterpret_cast<Vector*>(out), count);
}

void shuffles(int* out, int n, int width) { launch(kernel::shuffles, 1, 32, out, n, width); }
void wide_shuffles(double* out) { launch(kernel::wide_shuffles, 1, 32, out); }
void votes(unsigned* out) { launch(kernel::votes, 1, 64, out); }
void active_lanes(unsigned* out) { launch(kernel::active_lanes, 1, 32, out); }
void half_warps(int* out) { launch(kernel::half_warps, 1, 32, out); }
void atomics(int* out, int n, int bins) { launch(kernel::atomics, block_count(n), 256, out, n, bins); }
void distinct_atomics(float* out, int n) { launch(kernel::distinct_atomics, block_count(n), 256, out, n); }
void histogram(const int* in, int* out, int n) { launch(kernel::histogram, block_count(n), 256, in, out, n); }
void last_block_sum(const float* in, float* partial, float* sum, unsigned* count, int n) {
  launch(kernel::last_block_sum, block_count(n), 256, in, partial, sum, count, n);
}
void shuffle_sum(const float* in, float* out, int n) {
  launch(kernel::shuffle_sum, block_count(n), 256, in, out, n);
}
void copy_vectors(const float* in, float* out, int n, int kind) {
  if (kind == 0) copy<float2>(in, out, n);
  if (kind == 1) copy<float3>(in, out, n);
  if (kind == 2) copy<float4>(in, out, n);
  if (kind == 3) copy<char4>(in, out, n);
  if (kind == 4) copy<double2>(in, out, n);
}
void conversions(const float* in, int* out, int n) { launch(kernel::conversions, 1, 32, in, out, n); }
void volatile_accesses(int* x, int* out) { launch(kernel::volatile_accesses, 1, 32, x, out); }
void copy_blocks(const float* in, float* out, int threads) {
  launch(kernel::copy_blocks, 1, threads, in, out);
}
void normalise_rows(const float* in, float* out, int rows, bool mended) {
  launch(kernel::normalise_rows, rows, 32, in, out, mended);
}
void warp_tail_sum(const float* in, float* out, bool mended) {
  launch(kernel::warp_tail_sum, 1, 64, in, out, mended);
}
void shift_in_place(float* x, float* y, bool mended) { launch(kernel::shift_in_place, 1, 256, x, y, mended); }
void one_sum_for_all(float* out, bool mended) { launch(kernel::one_sum_for_all, 4, 32, out, mended); }
void last_block_by_number(const float* in, float* partial, float* sum) {
  launch(kernel::last_block_by_number, 4, 256, in, partial, sum);
}
void wait_for_flag(int* flag, bool mended) {
  volatile int* watched = flag;
  launch(kernel::wait_for_flag, 1, 1, watched, mended);
}
void read_unwritten(const float* in, float* out, int n) { launch(kernel::read_unwritten, 1, 64, in, out, n); }
void bytes_side_by_side(signed char* out, bool mended) {
  launch(kernel::bytes_side_by_side, 1, 64, out, mended);
}
void bytes_in_turn(signed char* bytes, signed char* out) { launch(kernel::bytes_in_turn, 1, 32, bytes, out); }
void two_barriers(float* out, bool mended) { launch(kernel::two_barriers, 1, 64, out, mended); }
void missing_lane(int* out, bool mended) { launch(kernel::missing_lane, 1, 32, out, mended); }
void foreign_mask(int* out, bool mended) { launch(kernel::foreign_mask, 1, 32, out, mended); }
void absent_source(int* out, bool mended) { launch(kernel::absent_source, 1, 32, out, mended); }
void sum_of_some(const float* in, float* out, int n, bool used) {
  launch(kernel::sum_of_some, 1, 32, in, out, n, used);
}
void most_of_some(const float* in, float* out, int n, bool least) {
  launch(kernel::most_of_some, 1, 32, in, out, n, least);
}
void sums_of_four(const float* in, float* out, int how) {
  launch(kernel::sums_of_four, 1, 32, reinterpret_cast<const float4*>(in), out, how);
}
void aligned_arrays(float* out) { launch(kernel::aligned_arrays, 1, 32, out); }
void small_dynamic_shared(float* out, bool mended) {
  launch_shared(kernel::small_dynamic_shared, 1, 64, mended ? 256 : 128, out);
}
void host_global(float* out, bool mended) { launch(kernel::host_global, 1, 32, out, mended); }

}  // namespace DEVICE::test_kernels
