#include "cores.hpp"
#include "device.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void double_rows(float* x, int columns) {
  float* row = x + blockIdx.x * columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] *= 2;
}

__global__ void double_byte_rows(signed char* x, int columns) {
  signed char* row = x + blockIdx.x * columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] = static_cast<signed char>(2 * row[c]);
}

__global__ void add_and_count(float* x, int* ended) {
  x[blockIdx.x * 64 + threadIdx.x] += 1;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) atomicAdd(ended, 1);
}

__global__ void print_blocks(float* x) {
  x[blockIdx.x * 64 + threadIdx.x] = 1;
  if (blockIdx.x > 0 && threadIdx.x == 0) printf("block %d\n", static_cast<int>(blockIdx.x));
}

__global__ void sync_and_store(int* x, int syncs) {
  if (blockIdx.x > 0)
    for (int i = 0; i < syncs; ++i) __syncwarp();
  if (threadIdx.x == 0) x[0] = static_cast<int>(blockIdx.x);
  __syncthreads();
}

// Mistakes of late blocks.

__global__ void past_the_end(float* x) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  x[blockIdx.x + 1 == gridDim.x ? i + 1 : i] = 1;
}

__global__ void never_written(float* x, const float* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  x[i] = blockIdx.x < 5 ? 1 : y[i];
}

__global__ void writes_to_first(float* x) {
  x[blockIdx.x + 2 == gridDim.x ? threadIdx.x : blockIdx.x * 64 + threadIdx.x] =
      static_cast<float>(blockIdx.x);
}

__global__ void reads_from_last(float* x) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  x[i] = blockIdx.x + 1 == gridDim.x ? x[i - 64] : 1;
}

__global__ void forgets_barrier(float* x) {
  __shared__ float values[64];
  values[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  if (blockIdx.x != 4) __syncthreads();
  x[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x ^ 32];
}

__global__ void two_barriers(float* x) {
  x[blockIdx.x * 64 + threadIdx.x] = 1;
  if (blockIdx.x < 5) return;
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    x[blockIdx.x * 64] = 2;
  } else {
    __syncthreads();
    x[blockIdx.x * 64 + 63] = 3;
  }
}

__device__ __noinline__ float of_large_array(const int* index) {
  float local[1 << 18];
  for (int i = 0; i < 1 << 18; i += 1024) local[i + *index] = 1;
  return local[*index];
}

__global__ void needs_stack(float* x, const int* index) {
  x[blockIdx.x * 64 + threadIdx.x] = 1;
  if (blockIdx.x >= 5) x[blockIdx.x * 64 + threadIdx.x] = of_large_array(index);
}

__global__ void does_not_end(float* x) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  x[i] = 1;
  while (blockIdx.x == 6 && x[i] > 0) x[i] = 2;
}

}  // namespace kernel

void double_rows(float* x, int rows, int columns) { launch(kernel::double_rows, rows, 64, x, columns); }
void double_byte_rows(signed char* x, int rows, int columns) {
  launch(kernel::double_byte_rows, rows, 64, x, columns);
}
void add_and_count(float* x, int* ended, int blocks) { launch(kernel::add_and_count, blocks, 64, x, ended); }
void sync_and_store(int* x, int blocks, int syncs) { launch(kernel::sync_and_store, blocks, 32, x, syncs); }
void print_blocks(float* x, int blocks) { launch(kernel::print_blocks, blocks, 64, x); }

BlockMistakes block_mistakes() {
  static const BlockMistake all[] = {
      {"past the end", [](float* x, float*, const int*, int n) { launch(kernel::past_the_end, n, 64, x); }},
      {"never written",
       [](float* x, float* y, const int*, int n) { launch(kernel::never_written, n, 64, x, y); }},
      {"race with the first",
       [](float* x, float*, const int*, int n) { launch(kernel::writes_to_first, n, 64, x); }},
      {"race with the one before",
       [](float* x, float*, const int*, int n) { launch(kernel::reads_from_last, n, 64, x); }},
      {"race in shared memory",
       [](float* x, float*, const int*, int n) { launch(kernel::forgets_barrier, n, 64, x); }},
      {"two barriers", [](float* x, float*, const int*, int n) { launch(kernel::two_barriers, n, 64, x); }},
      {"stack", [](float* x, float*, const int* i, int n) { launch(kernel::needs_stack, n, 64, x, i); }},
      {"no end", [](float* x, float*, const int*, int n) { launch(kernel::does_not_end, n, 64, x); }},
  };
  return {all, sizeof all / sizeof all[0]};
}

}  // namespace DEVICE::test_kernels
