/// \file
/// Exercise 04.3, one_read: normalise a row that is read once.
///
/// The kernel reads its row three times: for the mean, for the variance, for the result. Let each thread
/// keep what it has read. The check launches one block of 256 threads per row, and a row has at most 2048
/// columns: at most 8 for each thread.
///
/// Goal: 4 bytes read and 4 bytes written per element, and a result that is accurate also for rows of large
/// numbers that are close together, as that of the three loops is. A row with a NaN or a +infinity becomes
/// NaN, as in PyTorch. The rows are shared by the grid.
///
/// The check counts shared and device memory. It cannot see whether an array of a thread is in registers: the
/// compiler moves one to local memory, which is device memory, where an index is not known when it compiles.
/// On a GPU `nvcc -Xptxas -v` says so: "bytes stack frame" must be 0.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

constexpr int kThreads = 256;  // the check launches blocks of this size
constexpr int kMost = 2048;    // columns
constexpr int kHeld = kMost / kThreads;

__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }

/// The sum of `value` over the threads of the block, in all of them; every thread must call it.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return sums[0];
}

/// y = (r - mean) / sqrt(variance + epsilon) of each row r = relu(x); one block of kThreads threads per row,
/// columns <= kMost.
__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  // BEGIN SOLUTION
  float held[kHeld];
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    held[j] = c < columns ? x[first + c] : 0.0f;
  }
  float sum = 0.0f;  // in a loop of its own, so that all loads are in flight before the first is used
#pragma unroll
  for (int j = 0; j < kHeld; ++j) sum += held[j] = relu(held[j]);
  const float mean = block_sum(sum) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    const float distance = c < columns ? held[j] - mean : 0.0f;
    squares += distance * distance;
  }
  const float inverse = rsqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    if (c < columns) y[first + c] = (held[j] - mean) * inverse;
  }
  // SKELETON
  // // TODO: read x once.
  // float sum = 0.0f;
  // for (int c = threadIdx.x; c < columns; c += kThreads) sum += relu(x[first + c]);
  // const float mean = block_sum(sum) / static_cast<float>(columns);
  // float squares = 0.0f;
  // for (int c = threadIdx.x; c < columns; c += kThreads)
  //   squares += (relu(x[first + c]) - mean) * (relu(x[first + c]) - mean);
  // const float inverse = rsqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);
  // for (int c = threadIdx.x; c < columns; c += kThreads) y[first + c] = (relu(x[first + c]) - mean) * inverse;
  // END SOLUTION
}

}  // namespace DEVICE::layernorm_one_read
