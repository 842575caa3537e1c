#include "device.hpp"
#include "published.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kBlock = 256;

/// Every second thread adds, then every fourth: the threads that work are scattered over all warps.
__global__ void modulo(const float* in, float* out, int n) {
  float* s = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// The first threads work, on elements ever further apart: bank conflicts.
__global__ void strided_index(const float* in, float* out, int n) {
  float* s = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    const unsigned first = 2 * d * t;
    if (first < blockDim.x) s[first] += s[first + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void sequential(const float* in, float* out, int n) {
  float* s = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// in[i] + in[i + blockDim.x], of what there is of them.
__device__ inline float first_sum(const float* in, int i, int n) {
  float sum = i < n ? in[i] : 0.0f;
  if (i + static_cast<int>(blockDim.x) < n) sum += in[i + blockDim.x];
  return sum;
}

__global__ void first_add(const float* in, float* out, int n) {
  float* s = dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  s[t] = first_sum(in, blockIdx.x * blockDim.x * 2 + t, n);
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

/// The last 64 elements, by one warp.
__device__ inline void reduce_warp(float* s, unsigned t) {
  float sum = s[t] + s[t + 32];
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  sum += s[t + 16];
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  sum += s[t + 8];
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  sum += s[t + 4];
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  sum += s[t + 2];
  __syncwarp();
  s[t] = sum;
  __syncwarp();
  sum += s[t + 1];
  __syncwarp();
  s[t] = sum;
}

__global__ void unrolled_warp(const float* in, float* out, int n) {
  __shared__ float s[kBlock];
  const unsigned t = threadIdx.x;
  s[t] = first_sum(in, blockIdx.x * blockDim.x * 2 + t, n);
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) reduce_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

/// Every thread ends with the sum: each adds the sum of its partner, d elements away. Two buffers in turn
/// make one barrier enough for a store and a load.
__global__ void butterfly(const float* in, float* out, int n) {
  __shared__ float s[2][kBlock];
  const unsigned t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  float sum = i < n ? in[i] : 0.0f;
  unsigned buffer = 0;
  for (unsigned d = kBlock / 2; d > 0; d >>= 1) {
    s[buffer][t] = sum;
    __syncthreads();
    sum += s[buffer][t ^ d];
    buffer ^= 1;
  }
  if (t == 0) out[blockIdx.x] = sum;
}

int ceil_div(int n, int elements) { return (n - 1) / elements + 1; }

}  // namespace

void reduce_modulo(const float* in, float* out, int n) {
  launch_shared(modulo, ceil_div(n, kBlock), kBlock, kBlock * sizeof(float), in, out, n);
}
void reduce_strided_index(const float* in, float* out, int n) {
  launch_shared(strided_index, ceil_div(n, kBlock), kBlock, kBlock * sizeof(float), in, out, n);
}
void reduce_sequential(const float* in, float* out, int n) {
  launch_shared(sequential, ceil_div(n, kBlock), kBlock, kBlock * sizeof(float), in, out, n);
}
void reduce_first_add(const float* in, float* out, int n) {
  launch_shared(first_add, ceil_div(n, 2 * kBlock), kBlock, kBlock * sizeof(float), in, out, n);
}
void reduce_unrolled_warp(const float* in, float* out, int n) {
  launch(unrolled_warp, ceil_div(n, 2 * kBlock), kBlock, in, out, n);
}
void reduce_butterfly(const float* in, float* out, int n) {
  launch(butterfly, ceil_div(n, kBlock), kBlock, in, out, n);
}

}  // namespace DEVICE::test_kernels
