#include <stdio.h>

#include "device.hpp"
#include "features.hpp"

__device__ inline void check_elsewhere(int value, int limit) { assert(value < limit && "elsewhere"); }

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void copy_below_by_assert(const int* in, int* out, int limit) {
  const int value = in[threadIdx.x];
  assert(value < limit);
  out[threadIdx.x] = value;
}

__global__ void copy_below_elsewhere(const int* in, int* out, int limit) {
  const int value = in[threadIdx.x];
  check_elsewhere(value, limit);
  out[threadIdx.x] = value;
}

__global__ void copy_below_by_trap(const int* in, int* out, int limit) {
  const int value = in[threadIdx.x];
  if (value < 0) __trap();
  if (value >= limit) __trap();
  out[threadIdx.x] = value;
}

__global__ void half_vectors(const uint4* in, uint4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 vector = in[i];
  __half2* pairs = reinterpret_cast<__half2*>(&vector);
#pragma unroll
  for (int j = 0; j < 4; ++j) pairs[j] = __hfma2(pairs[j], __float2half2_rn(2.0f), __float2half2_rn(1.0f));
  out[i] = vector;
}

template <class T>
__global__ void copy(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void transpose_halfs(const __half* in, __half* out) {
  __shared__ __half tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void half_shuffles(unsigned* out) {
  const int t = threadIdx.x;
  const __half2 pair = __floats2half2_rn(t, -t);
  const __half2 others[] = {__shfl_xor_sync(0xffffffffu, pair, 1), __shfl_up_sync(0xffffffffu, pair, 1),
                            __shfl_down_sync(0xffffffffu, pair, 1), __shfl_sync(0xffffffffu, pair, 5)};
#pragma unroll
  for (int j = 0; j < 4; ++j)
    out[5 * t + j] = __half_as_ushort(others[j].x) | static_cast<unsigned>(__half_as_ushort(others[j].y))
                                                         << 16;
  out[5 * t + 4] = __half_as_ushort(__shfl_sync(0xffffffffu, pair.x, 5));
}

__global__ void atomics_in_turn(unsigned* values, unsigned* old) {
  int* as_int = reinterpret_cast<int*>(values);
  old[0] = atomicExch(&values[0], 7u);
  old[1] = atomicCAS(&values[1], 101u, 7u);                        // holds 101
  old[2] = atomicCAS(&values[2], 0u, 7u);                          // holds 102: stays
  old[3] = static_cast<unsigned>(atomicCAS(&as_int[3], 103, -7));  // holds 103
  old[4] = atomicInc(&values[4], 104u);                            // at its limit: to 0
  old[5] = atomicDec(&values[5], 50u);                             // above its limit: to it
  old[6] = static_cast<unsigned>(atomicSub(&as_int[6], 107));      // 106 - 107
  old[7] = atomicAnd(&values[7], 0xfu);
  old[8] = atomicOr(&values[8], 0xf00u);
  old[9] = atomicXor(&values[9], 1u);
}

__global__ void float_exchange(float* value, float* exch) {
  exch[threadIdx.x] = atomicExch(value, static_cast<float>(threadIdx.x));
}

__global__ void cas_sum(unsigned long long* sum) {
  const unsigned long long mine = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned long long seen = 0, expected;
  do {
    expected = seen;
    seen = atomicCAS(sum, expected, expected + mine);
  } while (seen != expected);
}

__global__ void cache_hints(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = __ldg(&in[t]);
  out[32 + t] = __ldcg(&in[32 + t]);
  out[64 + t] = __ldca(&in[64 + t]);
  out[96 + t] = __ldcs(&in[96 + t]);
  __stcg(&out[128 + t], in[128 + t]);
  __stcs(&out[160 + t], in[160 + t]);
  __stwt(&out[192 + t], in[192 + t]);
}

constexpr __device__ float kPowers[] = {1.0f, 2.0f, 4.0f, 8.0f};
__constant__ int kOffsets[4] = {100, 200, 300, 400};

__noinline__ __device__ float twice(float x) { return 2 * x; }

__global__ void tables(float* out) {
  const int t = threadIdx.x;
  out[t] = kPowers[t % 4] + static_cast<float>(kOffsets[t % 4]) + twice(static_cast<float>(t));
}

template <class Function>
__global__ void transform(const float* in, float* out, Function function) {
  out[threadIdx.x] = function(in[threadIdx.x]);
}

template <int kThreads>
__global__ void reversed(const int* in, int* out) {
  __shared__ int s[kThreads];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[kThreads - 1 - threadIdx.x];
}

__global__ void reversed_dynamic(const int* in, int* out) {
  int* s = dynamic_shared<int>();
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(64) unrolled_sums(const float* in, float* out) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) sum += in[4 * threadIdx.x + j];
  __threadfence_block();
  out[threadIdx.x] = threadIdx.x < warpSize ? sum : -sum;
}

__global__ void prints(const float* in) {
  if (threadIdx.x == 3) printf("thread %d has %.2f\n", static_cast<int>(threadIdx.x), in[threadIdx.x]);
}

__global__ void all_print() { printf("thread %d is here\n", static_cast<int>(threadIdx.x)); }

}  // namespace kernel
}  // namespace DEVICE::test_kernels

#include <cassert>
namespace DEVICE::test_kernels::kernel {
__global__ void copy_below_by_cassert(const int* in, int* out, int limit) {
  const int value = in[threadIdx.x];
  assert(value < limit);
  out[threadIdx.x] = value;
}
}  // namespace DEVICE::test_kernels::kernel

#include <assert.h>
namespace DEVICE::test_kernels {
namespace kernel {

__global__ void copy_below_by_assert_h(const int* in, int* out, int limit) {
  const int value = in[threadIdx.x];
  assert(value < limit);
  out[threadIdx.x] = value;
}

}  // namespace kernel

void half_vectors(const unsigned short* in, unsigned short* out, int n) {
  launch(kernel::half_vectors, n / 256, 32, reinterpret_cast<const uint4*>(in),
         reinterpret_cast<uint4*>(out));
}

namespace {
template <class T>
void copy_as(const unsigned short* in, unsigned short* out, int n) {
  const int count = n * 2 / static_cast<int>(sizeof(T));
  launch(kernel::copy<T>, (count + 63) / 64, 64, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
         count);
}
}  // namespace

void copy_halfs(const unsigned short* in, unsigned short* out, int n, int kind) {
  if (kind == 0) copy_as<__half>(in, out, n);
  if (kind == 1) copy_as<__half2>(in, out, n);
  if (kind == 2) copy_as<__nv_bfloat16>(in, out, n);
  if (kind == 3) copy_as<__nv_bfloat162>(in, out, n);
}
void transpose_halfs(const unsigned short* in, unsigned short* out) {
  launch(kernel::transpose_halfs, 1, dim3(32, 32), reinterpret_cast<const __half*>(in),
         reinterpret_cast<__half*>(out));
}
void half_shuffles(unsigned* out) { launch(kernel::half_shuffles, 1, 32, out); }
void atomics_in_turn(unsigned* values, unsigned* old) { launch(kernel::atomics_in_turn, 1, 1, values, old); }
void float_exchange(float* value, float* exch) { launch(kernel::float_exchange, 1, 64, value, exch); }
void cas_sum(unsigned long long* sum) { launch(kernel::cas_sum, 4, 64, sum); }
void cache_hints(const float* in, float* out) { launch(kernel::cache_hints, 1, 32, in, out); }
void tables(float* out) { launch(kernel::tables, 1, 64, out); }
void with_lambda(const float* in, float* out, float scale) {
  const auto function = [scale] __device__(float x) { return scale * x + 1; };
  launch(kernel::transform<decltype(function)>, 1, 64, in, out, function);
}
void reversed(const int* in, int* out, bool dynamic) {
  if (dynamic)
    launch_shared(kernel::reversed_dynamic, 1, 64, 64 * sizeof(int), in, out);
  else
    launch(kernel::reversed<64>, 1, 64, in, out);
}
void unrolled_sums(const float* in, float* out) { launch(kernel::unrolled_sums, 1, 64, in, out); }
void copy_below(const int* in, int* out, int limit, CheckedBy by) {
  switch (by) {
    case CheckedBy::kAssert:
      return launch(kernel::copy_below_by_assert, 1, 32, in, out, limit);
    case CheckedBy::kCassert:
      return launch(kernel::copy_below_by_cassert, 1, 32, in, out, limit);
    case CheckedBy::kAssertH:
      return launch(kernel::copy_below_by_assert_h, 1, 32, in, out, limit);
    case CheckedBy::kElsewhere:
      return launch(kernel::copy_below_elsewhere, 1, 32, in, out, limit);
    case CheckedBy::kTrap:
      return launch(kernel::copy_below_by_trap, 1, 32, in, out, limit);
  }
}
void copy_below_or_fail(const int* in, int* out, int limit, bool traps) {
  copy_below(in, out, limit, traps ? CheckedBy::kTrap : CheckedBy::kAssert);
}
void prints(const float* in) { launch(kernel::prints, 1, 32, in); }
void all_print(int threads) { launch(kernel::all_print, (threads + 255) / 256, 256); }

void run_feature(int feature, void* in, void* out) {
  const auto halfs = static_cast<const unsigned short*>(in);
  const auto floats = static_cast<const float*>(in);
  const int n = 2 * kFeatureWords;
  switch (feature) {
    case 0:
      return half_vectors(halfs, static_cast<unsigned short*>(out), n);
    case 1:
      return copy_halfs(halfs, static_cast<unsigned short*>(out), n, 1);
    case 2:
      return copy_halfs(halfs, static_cast<unsigned short*>(out), n, 2);
    case 3:
      return transpose_halfs(halfs, static_cast<unsigned short*>(out));
    case 4:
      return half_shuffles(static_cast<unsigned*>(out));
    case 5:
      return atomics_in_turn(static_cast<unsigned*>(in), static_cast<unsigned*>(out));
    case 6:
      return cas_sum(static_cast<unsigned long long*>(out));
    case 7:
      return cache_hints(floats, static_cast<float*>(out));
    case 8:
      return tables(static_cast<float*>(out));
    case 9:
      return with_lambda(floats, static_cast<float*>(out), 2.0f);  // exact: nvcc makes one operation of it
    case 10:
      return reversed(static_cast<const int*>(in), static_cast<int*>(out), true);
  }
}

}  // namespace DEVICE::test_kernels
