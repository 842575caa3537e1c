#include "device.hpp"
#include "published.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kBlock = 256;

__global__ void into_global(const int* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);
}

/// A histogram a block in shared memory, a grid-stride loop, then one addition a bin.
__global__ void into_shared(const int* in, int* bins, int n) {
  __shared__ int mine[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

__global__ void each(int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[i], 1);
}

__global__ void each_ticket(int* counts, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atomicAdd(&counts[i], 1);
}

__global__ void all(int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(count, 1);
}

__global__ void all_ticket(int* count, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atomicAdd(count, 1);
}

__global__ void all_floats(const float* in, float* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

int block_count(int n) { return (n - 1) / kBlock + 1; }

}  // namespace

void histogram_global(const int* in, int* bins, int n) {
  launch(into_global, block_count(n), kBlock, in, bins, n);
}
void histogram_shared(const int* in, int* bins, int n) {
  launch(into_shared, (block_count(n) - 1) / 8 + 1, kBlock, in, bins, n);
}
void count_each(int* counts, int n) { launch(each, block_count(n), kBlock, counts, n); }
void count_each_ticket(int* counts, int* out, int n) {
  launch(each_ticket, block_count(n), kBlock, counts, out, n);
}
void count_all(int* count, int n) { launch(all, block_count(n), kBlock, count, n); }
void count_all_ticket(int* count, int* out, int n) {
  launch(all_ticket, block_count(n), kBlock, count, out, n);
}
void add_all(const float* in, float* total, int n) {
  launch(all_floats, block_count(n), kBlock, in, total, n);
}

}  // namespace DEVICE::test_kernels
