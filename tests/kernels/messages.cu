#include "device.hpp"
#include "messages.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void tiled_sum(const float* in, float* out, int tiles, int mistake) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (mistake == 3 && t >= 40) return;
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    tile[t] = in[64 * i + t];
    if (mistake != 1) __syncthreads();
    for (int j = 0; j < 64; ++j) sum += tile[j];
    if (mistake != 2) __syncthreads();
  }
  out[t] = sum;
}

__global__ void tree_sum_in_loop(const float* in, float* out, int mistake) {
  __shared__ float tree[64];
  const int t = threadIdx.x;
  tree[t] = in[t];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) tree[t] += tree[t + half];
    if (mistake != 1) __syncthreads();
  }
  if (t == 0) out[0] = tree[0];
}

__global__ void barrier_in_tree(const float* in, float* out, bool in_if) {
  __shared__ float part[64];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) {
      part[t] += part[t + half];
      if (in_if) __syncthreads();
    }
    if (!in_if) __syncthreads();
  }
  out[t] = part[0];
}

__device__ inline float sum_of_pairs(float* sums, float value, bool waits) {
  const int t = threadIdx.x;
  if (waits) __syncthreads();
  sums[t] = value;
  __syncthreads();
  if (t < 32) sums[t] += sums[t + 32];
  __syncthreads();
  return sums[t % 32];
}

__global__ void two_sums(const float* in, float* out, bool mistake) {
  __shared__ float sums[64];
  const int t = threadIdx.x;
  const float first = sum_of_pairs(sums, in[t], !mistake);
  out[t] = first + sum_of_pairs(sums, 2 * in[t], !mistake);
}

__global__ void swap_within(const float* in, float* out, int width, int mistake) {
  __shared__ float line[128];
  const int t = threadIdx.x;
  line[t] = in[t];
  __syncthreads();
  const float other = line[t ^ (width - 1)];
  if (mistake != 1) __syncthreads();
  line[t] = 2 * other;
  __syncthreads();
  out[t] = line[t];
}

__global__ void swap_neighbours(const float* in, float* out, int mistake) {
  __shared__ float pair[64];
  const int t = threadIdx.x;
  pair[t] = in[t];
  if (mistake != 1) __syncthreads();
  out[t] = pair[t ^ 1];
}

__global__ void write_once(float* x, int mistake) {
  const int t = threadIdx.x;
  x[mistake ? t / 2 : t] = t;
}

__global__ void rotate(float* x, int rounds, int mistake) {
  const int t = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const float next = x[(t + 1) % 64];
    if (mistake != 1) __syncthreads();
    x[t] = next;
    if (mistake != 2) __syncthreads();
  }
}

__global__ void read_at(const float* in, float* out, long long index) {
  if (threadIdx.x == 0) out[0] = in[index];
}

__global__ void write_dynamic_shared_at(float* out, long long index) {
  float* line = dynamic_shared<float>();
  if (threadIdx.x == 0) line[index] = 1;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = line[index];
}

__global__ void read_last_vector(float* out, int bytes) {
  float* line = dynamic_shared<float>();
  for (int i = 0; i < bytes / 4; ++i) line[i] = i;
  reinterpret_cast<float4*>(out)[0] = reinterpret_cast<float4*>(line)[(bytes - 1) / 16];
}

__device__ __noinline__ const float* element(const float* array, long long index) { return array + index; }

__global__ void read_local_at(float* out, long long index) {
  float local[32];
  for (int i = 0; i < 32; ++i) local[i] = i;
  const float* p = element(local, 0);
  __syncthreads();  // all threads have their local variables now
  if (threadIdx.x == 0) out[0] = p[index];
  __syncthreads();
}

__global__ void exchange_locals(float* out, int mistake) {
  __shared__ const float* where[32];
  const int t = threadIdx.x;
  float local[2] = {1.0f * t, 2.0f * t};
  where[t] = element(local, 1);
  __syncthreads();
  out[t] = where[mistake ? t ^ 1 : t][0];
  __syncthreads();
}

__global__ void copy_blocks_checked(const float* in, float* out, int n, int mistake) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i];
  __syncthreads();
  if (mistake && blockIdx.x == 3) out[i] = in[n + threadIdx.x];
}

// clang-format off
__global__ void on_one_line(const float* in, float* out) { out[threadIdx.x] = in[32 + threadIdx.x]; }

__global__ void
type_before(const float* in, float* out) {
  out[threadIdx.x] = in[32 + threadIdx.x];
}

template <class T,
          int kOffset>
__global__ void
of_types(
    const T* in,
    T* out) {
  out[threadIdx.x] = in[kOffset + threadIdx.x];
}

__global__ void on_three_lines(const float* in,
                               float* out,
                               int offset)
{
  const int i = offset + threadIdx.x;
  out[threadIdx.x] = in[i];
}

__global__ void
__launch_bounds__(256)
bounded(const float* in, float* out)
{
  out[threadIdx.x] = in[32 + threadIdx.x];
}

// a comment that says on_next_lines_not(, and one that says "not on_next_lines"
template <int kOffset>
__global__ void __launch_bounds__(256)
    on_next_lines  (
        const float* in,
        float* out
    )
{
  __shared__ float line[32];
  line[threadIdx.x] = in[kOffset + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = line[31 - threadIdx.x];
}
// clang-format on

}  // namespace kernel

void tiled_sum(const float* in, float* out, int tiles, int mistake) {
  launch(kernel::tiled_sum, 1, 64, in, out, tiles, mistake);
}
void tree_sum_in_loop(const float* in, float* out, int mistake) {
  launch(kernel::tree_sum_in_loop, 1, 64, in, out, mistake);
}
void barrier_in_tree(const float* in, float* out, bool in_if) {
  launch(kernel::barrier_in_tree, 1, 64, in, out, in_if);
}
void two_sums(const float* in, float* out, bool mistake) {
  launch(kernel::two_sums, 1, 64, in, out, mistake);
}
void swap_within(const float* in, float* out, int threads, int width, int mistake) {
  launch(kernel::swap_within, 1, threads, in, out, width, mistake);
}
void swap_neighbours(const float* in, float* out, int mistake) {
  launch(kernel::swap_neighbours, 1, 64, in, out, mistake);
}
void write_once(float* x, int mistake) { launch(kernel::write_once, 1, 64, x, mistake); }
void rotate(float* x, int rounds, int mistake) { launch(kernel::rotate, 1, 64, x, rounds, mistake); }

void read_at(const float* in, float* out, long long index) { launch(kernel::read_at, 1, 32, in, out, index); }
void write_dynamic_shared_at(float* out, long long index) {
  launch_shared(kernel::write_dynamic_shared_at, 1, 32, 32 * sizeof(float), out, index);
}
void read_last_vector(float* out, int bytes) {
  launch_shared(kernel::read_last_vector, 1, 1, bytes, out, bytes);
}
void read_local_at(float* out, long long index) { launch(kernel::read_local_at, 1, 64, out, index); }
void exchange_locals(float* out, int mistake) { launch(kernel::exchange_locals, 1, 32, out, mistake); }

void copy_blocks_checked(const float* in, float* out, int n, int mistake) {
  launch(kernel::copy_blocks_checked, n / 256, 256, in, out, n, mistake);
}

void declared(int which, const float* in, float* out) {
  if (which == 0) launch(kernel::on_one_line, 1, 32, in, out);
  if (which == 1) launch(kernel::type_before, 1, 32, in, out);
  if (which == 2) launch(kernel::of_types<float, 32>, 1, 32, in, out);
  if (which == 3) launch(kernel::on_three_lines, 1, 32, in, out, 32);
  if (which == 4) launch(kernel::bounded, 1, 32, in, out);
  if (which == 5) launch(kernel::on_next_lines<32>, 1, 32, in, out);
}

}  // namespace DEVICE::test_kernels
