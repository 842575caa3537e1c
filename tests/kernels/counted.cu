#include "counted.hpp"
#include "device.hpp"
#include "kernels.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kN = kCountedSize;

// --- Global memory ---

__global__ void odd_lanes(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2) out[i] = in[i];
}

__global__ void early_return(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
}

/// Every thread adds up `length` elements a grid apart.
__global__ void grid_stride(const float* in, float* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float sum = 0;
  for (int j = 0; j < length; ++j) sum += in[i + j * threads];
  out[i] = sum;
}

/// out[c][r] = in[r][c] of 1024 x 1024, straight from memory to memory.
__global__ void transpose_plain(const float* in, float* out) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  out[c * 1024 + r] = in[r * 1024 + c];
}

/// The same through a tile in shared memory whose rows are `Pitch` apart.
template <int Pitch>
__global__ void transpose_tile(const float* in, float* out) {
  __shared__ float tile[32 * Pitch];
  const int c = blockIdx.x * 32, r = blockIdx.y * 32;
  tile[threadIdx.y * Pitch + threadIdx.x] = in[(r + threadIdx.y) * 1024 + c + threadIdx.x];
  __syncthreads();
  out[(c + threadIdx.y) * 1024 + r + threadIdx.x] = tile[threadIdx.x * Pitch + threadIdx.y];
}

__global__ void distinct_atomics(float* out) { atomicAdd(&out[blockIdx.x * blockDim.x + threadIdx.x], 1.0f); }

// --- Shared memory: whole vectors, of which every element is used, or nvcc would load less ---

__device__ inline void set(float1& v, float x) { v.x = x; }
__device__ inline void set(float2& v, float x) { v = make_float2(x, x + 1); }
__device__ inline void set(float4& v, float x) { v = make_float4(x, x + 1, x + 2, x + 3); }
__device__ inline float sum(const float1& v) { return v.x; }
__device__ inline float sum(const float2& v) { return v.x + v.y; }
__device__ inline float sum(const float4& v) { return v.x + v.y + v.z + v.w; }

/// Lane i writes vector i * Stride and reads it back.
template <class Vector, int Stride>
__global__ void shared_stride(float* out) {
  __shared__ Vector s[32 * Stride];
  Vector value;
  set(value, threadIdx.x);
  s[threadIdx.x * Stride] = value;
  __syncthreads();
  value = s[threadIdx.x * Stride];
  out[blockIdx.x * 32 + threadIdx.x] = sum(value);
}

/// Groups of `Lanes` neighbours read one vector each; the first lane of a group has written it.
template <class Vector, int Lanes>
__global__ void shared_groups(float* out) {
  __shared__ Vector s[32];
  Vector value;
  set(value, threadIdx.x);
  if (threadIdx.x % Lanes == 0) s[threadIdx.x / Lanes] = value;
  __syncthreads();
  value = s[threadIdx.x / Lanes];
  out[blockIdx.x * 32 + threadIdx.x] = sum(value);
}

__global__ void shuffle_sum(const float* in, float* out) {
  __shared__ float warps[8];
  const int t = threadIdx.x;
  float sum = in[blockIdx.x * 256 + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < 8 ? warps[t] : 0.0f;
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t == 0) out[blockIdx.x] = sum;
}

template <class Vector, int Stride>
void run_stride(float*, float*, float*, float* out) {
  launch(shared_stride<Vector, Stride>, 1024, 32, out);
}
template <class Vector, int Lanes>
void run_groups(float*, float*, float*, float* out) {
  launch(shared_groups<Vector, Lanes>, 1024, 32, out);
}
template <int Stride>
void run_global_stride(float* a, float*, float*, float* out) {
  strided(a, out, kN / 32, Stride);
}

const CountedKernel kKernels[] = {
    {"mul", [](float* a, float* b, float*, float* out) { mul(a, b, out, kN); }},
    {"fma4", [](float* a, float* b, float* c, float* out) { fma4(a, b, c, out, kN); }},
    {"red", [](float* a, float*, float*, float* out) { red(a, out, kN); }},
    {"mul, one element off",
     [](float* a, float* b, float*, float* out) { mul(a + 1, b + 1, out + 1, kN - 1); }},
    {"stride 2", run_global_stride<2>},
    {"stride 4", run_global_stride<4>},
    {"stride 8", run_global_stride<8>},
    {"stride 16", run_global_stride<16>},
    {"stride 32", run_global_stride<32>},
    {"broadcast", [](float* a, float*, float*, float* out) { broadcast(a, out, kN); }},
    {"reversed", [](float* a, float*, float*, float* out) { reversed(a, out, kN); }},
    {"odd lanes", [](float* a, float*, float*, float* out) { launch(odd_lanes, kN / 256, 256, a, out); }},
    {"early return",
     [](float* a, float*, float*, float* out) { launch(early_return, kN / 256, 256, a, out, 1000003); }},
    {"grid stride", [](float* a, float*, float*, float* out) { launch(grid_stride, 128, 256, a, out, 32); }},
    {"rows", [](float* a, float*, float*, float* out) { rows(a, out, kN / 64, 64); }},
    {"transpose, plain", [](float* a, float*, float*,
                            float* out) { launch(transpose_plain, dim3(32, 32), dim3(32, 32), a, out); }},
    {"transpose, tile", [](float* a, float*, float*,
                           float* out) { launch(transpose_tile<32>, dim3(32, 32), dim3(32, 32), a, out); }},
    {"transpose, padded tile",
     [](float* a, float*, float*, float* out) {
       launch(transpose_tile<33>, dim3(32, 32), dim3(32, 32), a, out);
     }},
    {"distinct atomics",
     [](float*, float*, float*, float* out) { launch(distinct_atomics, kN / 256, 256, out); }},
    {"shuffle sum", [](float* a, float*, float*, float* out) { launch(shuffle_sum, kN / 256, 256, a, out); }},
    {"shared, 32 bits, stride 1", run_stride<float1, 1>},
    {"shared, 32 bits, stride 2", run_stride<float1, 2>},
    {"shared, 32 bits, stride 3", run_stride<float1, 3>},
    {"shared, 32 bits, stride 4", run_stride<float1, 4>},
    {"shared, 32 bits, stride 8", run_stride<float1, 8>},
    {"shared, 32 bits, stride 16", run_stride<float1, 16>},
    {"shared, 32 bits, stride 32", run_stride<float1, 32>},
    {"shared, 32 bits, stride 33", run_stride<float1, 33>},
    {"shared, 64 bits, stride 1", run_stride<float2, 1>},
    {"shared, 64 bits, stride 2", run_stride<float2, 2>},
    {"shared, 64 bits, stride 3", run_stride<float2, 3>},
    {"shared, 64 bits, stride 16", run_stride<float2, 16>},
    {"shared, 128 bits, stride 1", run_stride<float4, 1>},
    {"shared, 128 bits, stride 2", run_stride<float4, 2>},
    {"shared, 128 bits, stride 3", run_stride<float4, 3>},
    {"shared, 32 bits, 8 lanes a word", run_groups<float1, 8>},
    {"shared, 64 bits, 2 lanes a vector", run_groups<float2, 2>},
    {"shared, 64 bits, 4 lanes a vector", run_groups<float2, 4>},
    {"shared, 128 bits, 2 lanes a vector", run_groups<float4, 2>},
    {"shared, 128 bits, 4 lanes a vector", run_groups<float4, 4>},
    {"shared, 128 bits, 32 lanes a vector", run_groups<float4, 32>},
};

}  // namespace

CountedKernels counted_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace DEVICE::test_kernels
