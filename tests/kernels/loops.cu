#include "device.hpp"
#include "loops.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void ragged_columns(const int* lengths, const int* skip, const int* table, int* out, int rounds) {
  const int t = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int length = lengths[32 * r + t];
    int sum = 0;
    for (int j = 0; j < length; ++j) {
      if (skip[32 * j + t] != 0) continue;
      sum += table[32 * j + t];
    }
    out[32 * r + t] = sum;
  }
}

__global__ void search_columns(const int* table, int wanted, int* out, int rows) {
  const int t = threadIdx.x;
  int row = 0;
  while (row < rows && table[32 * row + t] != wanted) ++row;
  out[t] = row < rows ? row : -1;
}

__device__ __noinline__ float column_sum(const float* in, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[32 * i];
  return sum;
}

__global__ void sums_out_of_line(const float* in, float* out, int n) {
  out[threadIdx.x] = column_sum(in + threadIdx.x, n);
}

__global__ void into_the_next_array(float* out, bool mended) {
  __shared__ float first[32], second[32];
  const int t = threadIdx.x;
  first[mended ? t : t + 1] = 1;
  second[t] = 2;
  __syncthreads();
  out[t] = first[31 - t] + second[31 - t];
}

template <int kCount>
__global__ void large_shared_arrays(float* out) {
  __shared__ float s[kCount];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void never_one(unsigned* out, bool mended) {
  unsigned x = mended ? 1 : threadIdx.x * 2;
  while (x != 1) x = x * 3 + 2;
  out[threadIdx.x] = x;
}

template <int kCount>
__global__ void large_local_array(const int* index, float* out) {
  float local[kCount];
  for (int i = 0; i < kCount; ++i) local[i] = i;
  out[threadIdx.x] = local[index[threadIdx.x]];
}

__device__ int depth(const int* next, int at) { return at < 0 ? 0 : 1 + depth(next, next[at]); }

__global__ void measure_chain(const int* next, float* out) { out[threadIdx.x] = depth(next, threadIdx.x); }

__global__ void write_one(float* out) { out[threadIdx.x] = 1; }

}  // namespace kernel

void ragged_columns(const int* lengths, const int* skip, const int* table, int* out, int rounds) {
  launch(kernel::ragged_columns, 1, 32, lengths, skip, table, out, rounds);
}
void search_columns(const int* table, int wanted, int* out, int rows) {
  launch(kernel::search_columns, 1, 32, table, wanted, out, rows);
}
void sums_out_of_line(const float* in, float* out, int n) {
  launch(kernel::sums_out_of_line, 1, 32, in, out, n);
}
void into_the_next_array(float* out, bool mended) { launch(kernel::into_the_next_array, 1, 32, out, mended); }
void large_shared_arrays(float* out, bool mended) {
  launch(mended ? kernel::large_shared_arrays<10 * 1024> : kernel::large_shared_arrays<13 * 1024>, 1, 32,
         out);
}
void never_one(unsigned* out, bool mended) { launch(kernel::never_one, 1, 32, out, mended); }
void large_local_array(const int* index, float* out, bool mended) {
  launch(mended ? kernel::large_local_array<64> : kernel::large_local_array<256 * 1024>, 1, 32, index, out);
}
void measure_chain(const int* next, float* out) { launch(kernel::measure_chain, 1, 32, next, out); }
void host_writes(float* out, bool mended) {
  if (mended)
    launch(kernel::write_one, 1, 32, out);
  else
    out[5] = 1;
}

}  // namespace DEVICE::test_kernels
