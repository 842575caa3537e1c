#include "../../chapters/03_quantize_int8/05_corrected.cuh"
#include "../../chapters/04_relu_layernorm/03_tree.cuh"
#include "../../chapters/04_relu_layernorm/09_two_passes.cuh"
#include "claims.hpp"
#include "device.hpp"

namespace DEVICE::claims {
namespace kernel {

constexpr int kThreads = 256;
constexpr int kMine = kColumns / kThreads;  // elements of a row that one thread has

/// sums[0] = the sum of `value` over the threads of the block.
__device__ inline void block_sum(float* sums, float value) {
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
}

// [three_reads]
/// One block per row. With `Fixed`, every thread has read the mean before a thread overwrites it.
template <bool Fixed>
__global__ void normalise(const float* in, float* out) {
  __shared__ float sums[kThreads];
  const float* row = in + blockIdx.x * kColumns;

  float sum = 0;
  for (int c = threadIdx.x; c < kColumns; c += kThreads) sum += row[c];
  block_sum(sums, sum);
  const float mean = sums[0] / kColumns;
  if (Fixed) __syncthreads();

  float squares = 0;
  for (int c = threadIdx.x; c < kColumns; c += kThreads) squares += (row[c] - mean) * (row[c] - mean);
  block_sum(sums, squares);
  const float scale = rsqrtf(sums[0] / kColumns + 1e-5f);

  for (int c = threadIdx.x; c < kColumns; c += kThreads)
    out[blockIdx.x * kColumns + c] = (row[c] - mean) * scale;
}
// [three_reads]

__global__ void normalise_registers(const float* in, float* out) {
  __shared__ float sums[kThreads];
  const int first = blockIdx.x * kColumns + threadIdx.x;

  float mine[kMine], sum = 0, squares = 0;
#pragma unroll
  for (int j = 0; j < kMine; ++j) sum += mine[j] = in[first + j * kThreads];
  block_sum(sums, sum);
  const float mean = sums[0] / kColumns;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kMine; ++j) squares += (mine[j] - mean) * (mine[j] - mean);
  block_sum(sums, squares);
  const float scale = rsqrtf(sums[0] / kColumns + 1e-5f);
#pragma unroll
  for (int j = 0; j < kMine; ++j) out[first + j * kThreads] = (mine[j] - mean) * scale;
}

__global__ void zero(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0;
}

__global__ void multiply(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * b[i];
}

__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void multiply_add(const float* a, const float* b, const float* c, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * b[i] + c[i];
}

// [quantise]
__global__ void quantise_by_division(const float* in, float scale, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2int_rn(in[i] / scale);
}

__global__ void quantise_by_reciprocal(const float* in, float inverse, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2int_rn(in[i] * inverse);
}
// [quantise]

__global__ void quantise_by_corrected(const float* in, quantize_int8::Steps by, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2int_rn(quantize_int8::divided(in[i], by));
}

/// One block of 256 threads: the variance of x, in three ways.
__global__ void variances(const float* x, float* of_squares, float* two_passes, float* welford, int n) {
  float sum = 0, squares = 0, distances = 0;
  relu_layernorm::Moments mine = {0, 0, 0};
  for (int i = threadIdx.x; i < n; i += kThreads) {
    sum += x[i];
    squares += x[i] * x[i];
    mine = welford_update(mine, x[i]);
  }
  const float mean = relu_layernorm::block_sum(sum) / static_cast<float>(n);
  const float mean_square = relu_layernorm::block_sum(squares) / n;
  for (int i = threadIdx.x; i < n; i += kThreads) distances += (x[i] - mean) * (x[i] - mean);
  distances = relu_layernorm::block_sum(distances);
  mine = block_moments(mine);
  if (threadIdx.x == 0) {
    *of_squares = mean_square - mean * mean;
    *two_passes = distances / n;
    *welford = mine.squares / n;
  }
}

// [softmaxes]
/// The softmax of n scores in two ways, by one thread.
__global__ void softmaxes(const float* scores, float* naive, float* stable, int n) {
  float sum = 0.0f, most = -INFINITY, stable_sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += expf(scores[i]);
  for (int i = 0; i < n; ++i) naive[i] = expf(scores[i]) / sum;

  for (int i = 0; i < n; ++i) most = fmaxf(most, scores[i]);
  for (int i = 0; i < n; ++i) stable_sum += expf(scores[i] - most);
  for (int i = 0; i < n; ++i) stable[i] = expf(scores[i] - most) / stable_sum;
}
// [softmaxes]

}  // namespace kernel

void normalise_three_reads(const float* in, float* out, int rows) {
  launch(kernel::normalise<true>, rows, kernel::kThreads, in, out);
}
void normalise_one_read(const float* in, float* out, int rows) {
  launch(kernel::normalise_registers, rows, kernel::kThreads, in, out);
}
void normalise_racing(const float* in, float* out, int rows) {
  launch(kernel::normalise<false>, rows, kernel::kThreads, in, out);
}
void zero(float* out, int n) { launch(kernel::zero, (n + 255) / 256, 256, out, n); }
void multiply(const float* a, const float* b, float* out, int n) {
  launch(kernel::multiply, (n + 255) / 256, 256, a, b, out, n);
}
void add(const float* a, const float* b, float* out, int n) {
  launch(kernel::add, (n + 255) / 256, 256, a, b, out, n);
}
void multiply_add(const float* a, const float* b, const float* c, float* out, int n) {
  launch(kernel::multiply_add, (n + 255) / 256, 256, a, b, c, out, n);
}
void quantise_by_division(const float* in, float scale, int* out, int n) {
  launch(kernel::quantise_by_division, (n + 255) / 256, 256, in, scale, out, n);
}
void quantise_by_reciprocal(const float* in, float scale, int* out, int n) {
  launch(kernel::quantise_by_reciprocal, (n + 255) / 256, 256, in, 1 / scale, out, n);
}
void quantise_by_corrected(const float* in, float scale, int* out, int n) {
  launch(kernel::quantise_by_corrected, (n + 255) / 256, 256, in, quantize_int8::steps_of(scale, 0.0f), out,
         n);
}
void variances(const float* x, float* out, int n) {
  launch(kernel::variances, 1, kernel::kThreads, x, out, out + 1, out + 2, n);
}
void softmaxes(const float* scores, float* naive, float* stable, int n) {
  launch(kernel::softmaxes, 1, 1, scores, naive, stable, n);
}

}  // namespace DEVICE::claims
