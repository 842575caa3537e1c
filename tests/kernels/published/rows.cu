#include "device.hpp"
#include "published.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr int kBlock = 256, kWarps = kBlock / 32;
constexpr float kEps = 1e-5f, kLowest = -3.402823466e38f;

__device__ inline float warp_sum(float value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(kAll, value, d);
  return value;
}

/// The sum over a block of kWarps warps, in every thread.
__device__ inline float block_sum(float value) {
  __shared__ float partial[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  __syncthreads();  // a call before may still be reading
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  return warp_sum(lane < kWarps ? partial[lane] : 0.0f);
}

__global__ void layer_norm_of_block(const float* __restrict__ in, const float* __restrict__ weight,
                                    const float* __restrict__ bias, float* __restrict__ out, int columns) {
  const float* x = in + blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
  const float mean = block_sum(sum) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
  const float scale = rsqrtf(block_sum(squares) / columns + kEps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = (x[c] - mean) * scale * weight[c] + bias[c];
}

/// Mean and mean of squares in one pass.
__global__ void layer_norm_of_warp(const float* __restrict__ in, const float* __restrict__ weight,
                                   const float* __restrict__ bias, float* __restrict__ out, int rows,
                                   int columns) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const float* x = in + row * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int c = lane; c < columns; c += 32) {
    const float value = x[c];
    sum += value;
    squares += value * value;
  }
  const float mean = warp_sum(sum) / columns;
  const float scale = rsqrtf(warp_sum(squares) / columns - mean * mean + kEps);
  for (int c = lane; c < columns; c += 32)
    out[row * columns + c] = (x[c] - mean) * scale * weight[c] + bias[c];
}

/// columns in units of float4.
__global__ void rms_norm_of_warp(const float4* __restrict__ in, const float4* __restrict__ weight,
                                 float4* __restrict__ out, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float squares = 0.0f;
  for (int c = lane; c < columns; c += 32) {
    const float4 x = in[row * columns + c];
    squares += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  const float scale = rsqrtf(warp_sum(squares) / (4 * columns) + kEps);
  for (int c = lane; c < columns; c += 32) {
    const float4 x = in[row * columns + c], w = weight[c];
    out[row * columns + c] =
        make_float4(x.x * scale * w.x, x.y * scale * w.y, x.z * scale * w.z, x.w * scale * w.w);
  }
}

/// The result of a part of a row: its maximum, and the sum of exp(x - maximum).
struct Running {
  float maximum;
  float sum;
};

__device__ inline Running merged(Running a, Running b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

__device__ inline Running merged_over_warp(Running mine) {
  for (int d = 16; d > 0; d /= 2)
    mine = merged(mine, {__shfl_xor_sync(kAll, mine.maximum, d), __shfl_xor_sync(kAll, mine.sum, d)});
  return mine;
}

/// The elements first, first + step ... of a row.
__device__ inline Running running(const float* x, int columns, int first, int step) {
  Running mine = {kLowest, 0.0f};
  for (int c = first; c < columns; c += step) mine = merged(mine, {x[c], 1.0f});
  return mine;
}

__global__ void softmax_of_warp(const float* __restrict__ in, float* __restrict__ out, int rows,
                                int columns) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const float* x = in + row * columns;
  const Running all = merged_over_warp(running(x, columns, lane, 32));
  for (int c = lane; c < columns; c += 32) out[row * columns + c] = expf(x[c] - all.maximum) / all.sum;
}

__global__ void softmax_of_block(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ float maxima[kWarps], sums[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* x = in + blockIdx.x * columns;
  const Running mine = merged_over_warp(running(x, columns, threadIdx.x, blockDim.x));
  if (lane == 0) {
    maxima[warp] = mine.maximum;
    sums[warp] = mine.sum;
  }
  __syncthreads();
  Running all = {kLowest, 0.0f};
  if (lane < kWarps) all = {maxima[lane], sums[lane]};
  all = merged_over_warp(all);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = expf(x[c] - all.maximum) / all.sum;
}

/// Blocks needed for one warp per row.
int block_count(int rows) { return (rows - 1) / kWarps + 1; }

}  // namespace

void layer_norm_block(const float* in, const float* weight, const float* bias, float* out, int rows,
                      int columns) {
  launch(layer_norm_of_block, rows, kBlock, in, weight, bias, out, columns);
}
void layer_norm_warp(const float* in, const float* weight, const float* bias, float* out, int rows,
                     int columns) {
  launch(layer_norm_of_warp, block_count(rows), kBlock, in, weight, bias, out, rows, columns);
}
void rms_norm(const float* in, const float* weight, float* out, int rows, int columns) {
  launch(rms_norm_of_warp, block_count(rows), kBlock, reinterpret_cast<const float4*>(in),
         reinterpret_cast<const float4*>(weight), reinterpret_cast<float4*>(out), rows, columns / 4);
}
void online_softmax_warp(const float* in, float* out, int rows, int columns) {
  launch(softmax_of_warp, block_count(rows), kBlock, in, out, rows, columns);
}
void online_softmax_block(const float* in, float* out, int rows, int columns) {
  launch(softmax_of_block, rows, kBlock, in, out, columns);
}

}  // namespace DEVICE::test_kernels
