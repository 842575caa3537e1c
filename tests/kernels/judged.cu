#include "device.hpp"
#include "judged.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void twice(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * x[i];
}

__global__ void twice_and_sectors(const float* x, float* out, int n, int sectors) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * x[i];
  if (threadIdx.x > 0) return;
  float sum = 0;
  for (int i = 0; i < sectors; ++i) sum += x[8 * i];
  out[0] = 2 * x[0] + 0 * sum;
}

__global__ void twice_after_polling(const float* x, float* out, int n, int* flag) {
  if (threadIdx.x < 32) {
    while (atomicAdd(flag, 0) == 0) {
    }
  } else if (threadIdx.x == 63) {
    atomicExch(flag, 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * x[i];
  if (threadIdx.x == 0) atomicExch(flag, 0);
}

__global__ void twice_by_256(const float* x, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = 2 * x[i];
}

__global__ void clear_last_column(unsigned short* matrix, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) matrix[static_cast<long long>(row + 1) * columns - 1] = 0;
}

}  // namespace kernel

void twice(const float* x, float* out, int n, int blocks, int threads) {
  launch(kernel::twice, blocks, threads, x, out, n);
}
void twice_and_sectors(const float* x, float* out, int n, int sectors) {
  launch(kernel::twice_and_sectors, 1, 256, x, out, n, sectors);
}
void twice_after_polling(const float* x, float* out, int n, int* flag) {
  launch(kernel::twice_after_polling, 1, 64, x, out, n, flag);
}
void twice_by_256(const float* x, float* out, int n, int threads) {
  launch(kernel::twice_by_256, n / 256, threads, x, out);
}
void clear_last_column(void* matrix, int rows, int columns) {
  launch(kernel::clear_last_column, rows / 128 + 1, 128, static_cast<unsigned short*>(matrix), rows, columns);
}

}  // namespace DEVICE::test_kernels
