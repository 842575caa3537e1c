#include "device.hpp"
#include "published.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kBlock = 256;

__global__ void in_turn(const float* in, float* out, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < length; ++j)
    if ((i + j) % 4 == 0) sum += in[j * n + i];
  out[i] = sum;
}

__global__ void by_mask(const float* in, const int* keep, float* out, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < length; ++j)
    if (keep[j * n + i] & 1) sum += in[j * n + i];
  out[i] = sum;
}

__global__ void search(const float* in, float limit, int* out, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int found = -1;
  for (int j = 0; j < length; ++j)
    if (in[j * n + i] > limit) {
      found = j;
      break;
    }
  out[i] = found;
}

__global__ void row_sums(const int* offsets, const float* values, float* out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int end = offsets[row + 1];
  float sum = 0.0f;
#pragma unroll 1  // or nvcc runs the rounds that are left over from fours apart from the others
  for (int j = offsets[row]; j < end; ++j) sum += values[j];
  out[row] = sum;
}

__global__ void csr_by_thread(const int* __restrict__ offsets, const int* __restrict__ columns,
                              const float* __restrict__ values, const float* __restrict__ x,
                              float* __restrict__ out, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int end = offsets[row + 1];
  float sum = 0.0f;
  for (int j = offsets[row]; j < end; ++j) sum += values[j] * x[columns[j]];
  out[row] = sum;
}

__global__ void csr_by_warp(const int* __restrict__ offsets, const int* __restrict__ columns,
                            const float* __restrict__ values, const float* __restrict__ x,
                            float* __restrict__ out, int rows) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const int end = offsets[row + 1];
  float sum = 0.0f;
  for (int j = offsets[row] + lane; j < end; j += 32) sum += values[j] * x[columns[j]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) out[row] = sum;
}

__global__ void both_branches(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value;
  if (i % 2)
    value = in[i];
  else
    value = in[i ^ 1];
  out[i] = value;
}

int block_count(int threads) { return (threads - 1) / kBlock + 1; }

}  // namespace

void guard_in_turn(const float* in, float* out, int n, int length) {
  launch(in_turn, block_count(n), kBlock, in, out, n, length);
}
void guard_by_mask(const float* in, const int* keep, float* out, int n, int length) {
  launch(by_mask, block_count(n), kBlock, in, keep, out, n, length);
}
void first_above(const float* in, float limit, int* out, int n, int length) {
  launch(search, block_count(n), kBlock, in, limit, out, n, length);
}
void ragged_row_sums(const int* offsets, const float* values, float* out, int rows) {
  launch(row_sums, block_count(rows), kBlock, offsets, values, out, rows);
}
void csr_thread(const int* offsets, const int* columns, const float* values, const float* x, float* out,
                int rows) {
  launch(csr_by_thread, block_count(rows), kBlock, offsets, columns, values, x, out, rows);
}
void csr_warp(const int* offsets, const int* columns, const float* values, const float* x, float* out,
              int rows) {
  launch(csr_by_warp, block_count(32 * rows), kBlock, offsets, columns, values, x, out, rows);
}
void load_in_both_branches(const float* in, float* out, int n) {
  launch(both_branches, block_count(n), kBlock, in, out, n);
}

}  // namespace DEVICE::test_kernels
