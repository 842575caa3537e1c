#include "device.hpp"
#include "kernels.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void mul(const float* q, const float* k, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = q[i] * k[i];
}

__global__ void fma4(const float4* q, const float4* k, const float4* v, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = q[i], b = k[i], c = v[i];
  out[i] = make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
}

__global__ void red(const float* in, float* out, int n) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void strided(const float* in, float* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

__global__ void broadcast(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[0];
}

__global__ void reversed(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i ^ 31];
}

__global__ void rows(const float* in, float* out, int count, int length) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  float sum = 0;
  for (int c = 0; c < length; ++c) sum += in[row * length + c];
  out[row] = sum;
}

__global__ void shared_stride(float* out, int stride) {
  float* s = dynamic_shared<float>();
  s[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x * stride];
}

__global__ void three_dimensions(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = block * 1000 + thread;
}

__global__ void early_return(const float* in, float* out, int live) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  if (t >= live) return;
  s[t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < live; ++j) sum += s[j];
  __syncthreads();
  out[t] = sum;
}

__constant__ float kTable[4] = {1, 10, 100, 1000};

__global__ void table_and_locals(const int* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float local[4];
  for (int j = 0; j < 4; ++j) local[j] = kTable[j] * i;
  out[i] = local[in[i] & 3];
}

__global__ void past_the_end(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];  // no guard
}

__global__ void before_the_start(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i - 1];
}

__global__ void misaligned(const float* in, float4* out) {
  out[threadIdx.x] = reinterpret_cast<const float4*>(in + 1)[threadIdx.x];
}

__global__ void shared_from_last_block(const float* in, float* out) {
  __shared__ float s[32];
  if (blockIdx.x == 0) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

__global__ void store_one(float* out) { out[threadIdx.x] = 1; }

}  // namespace kernel

static int block_count(int n) { return (n - 1) / 256 + 1; }

void mul(const float* q, const float* k, float* out, int n) {
  launch(kernel::mul, block_count(n), 256, q, k, out, n);
}
void fma4(const float* q, const float* k, const float* v, float* out, int n) {
  launch(kernel::fma4, block_count(n / 4), 256, reinterpret_cast<const float4*>(q),
         reinterpret_cast<const float4*>(k), reinterpret_cast<const float4*>(v),
         reinterpret_cast<float4*>(out), n / 4);
}
void red(const float* in, float* out, int n) { launch(kernel::red, block_count(n), 256, in, out, n); }
void strided(const float* in, float* out, int n, int stride) {
  launch(kernel::strided, block_count(n), 256, in, out, n, stride);
}
void broadcast(const float* in, float* out, int n) {
  launch(kernel::broadcast, block_count(n), 256, in, out, n);
}
void reversed(const float* in, float* out, int n) {
  launch(kernel::reversed, block_count(n), 256, in, out, n);
}
void rows(const float* in, float* out, int count, int length) {
  launch(kernel::rows, block_count(count), 256, in, out, count, length);
}
void shared_stride(float* out, int threads, int stride) {
  launch_shared(kernel::shared_stride, 1, threads, sizeof(float) * threads * stride, out, stride);
}
void three_dimensions(int* out) { launch(kernel::three_dimensions, dim3(3, 4, 2), dim3(3, 4, 2), out); }
void early_return(const float* in, float* out, int threads, int live) {
  launch(kernel::early_return, 1, threads, in, out, live);
}
void table_and_locals(const int* in, float* out, int n) {
  launch(kernel::table_and_locals, block_count(n), 256, in, out, n);
}

void past_the_end(const float* in, float* out, int n) {
  launch(kernel::past_the_end, block_count(n), 256, in, out);
}
void before_the_start(const float* in, float* out, int n) {
  launch(kernel::before_the_start, block_count(n), 256, in, out, n);
}
void misaligned(const float* in, float* out) {
  launch(kernel::misaligned, 1, 8, in, reinterpret_cast<float4*>(out));
}
void shared_from_last_block(const float* in, float* out) {
  launch(kernel::shared_from_last_block, 2, 32, in, out);
}
void null_pointer(float*) { launch(kernel::store_one, 1, 32, static_cast<float*>(nullptr)); }
void too_many_threads(float* out) { launch(kernel::store_one, 1, 1025, out); }
void too_much_shared(float* out) { launch_shared(kernel::store_one, 1, 32, 300 * 1024, out); }
void empty_grid(float* out) { launch(kernel::store_one, 0, 32, out); }

}  // namespace DEVICE::test_kernels
