#include "counted_bytes.hpp"
#include "device.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__global__ void load_words(int which, const float* in, float* out) {
  const int i = threadIdx.x;
  float value = 0;
  if (which == 0) value = in[0];
  if (which == 1) {
    const float4 vector = *reinterpret_cast<const float4*>(in);
    value = vector.x + vector.w;
  }
  if (which == 2) value = in[i / 4];
  if (which == 3) {
    value = in[i];
    value += in[i + 1];
    value += in[i + 2];
  }
  if (which == 4) value = in[i ^ 1];
  if (which == 5) value = in[31 - i / 2];
  if (which == 6 && i == 0) value = in[0];
  out[i] = value;
}

__global__ void store_words(int which, float* out) {
  const int i = threadIdx.x;
  if (which == 0) out[i] = 1.0f;
  if (which == 1) reinterpret_cast<short*>(out)[2 * i] = 1;
  if (which == 2) out[2 * i] = 1.0f;
}

template <class Vector>
__global__ void copy_words(int lanes_each, int zeros, const Vector* in, Vector* out) {
  __shared__ Vector s[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &in[i / lanes_each], sizeof(Vector), zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[i] = s[i];
}

__global__ void sum_shared(int which, float* out) {
  alignas(16) __shared__ float s[64], rows[32 * 36];
  const int t = threadIdx.x, lane = t % 32;
  s[t] = static_cast<float>(t);
  for (int i = t; i < 32 * 36; i += 64) rows[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  if (which == 0)
    for (int i = 0; i < 64; ++i) sum += s[i];
  if (which == 1) {
    const float* four = s + 4 * t % 64;
    sum = (four[0] + four[1]) + (four[2] + four[3]);
  }
  if (which == 2)
    for (int i = 0; i < 32; ++i) {
      const float2 two = reinterpret_cast<const float2*>(s)[i];
      sum += two.x + two.y;
    }
  if (which == 3)
    for (int i = 0; i < 32; ++i) sum += rows[lane * 36 + i];
  if (which == 4)
    for (int i = 1; i < 64; ++i) sum += s[i];
  if (which == 5)
    for (int i = 0; i < 8; ++i) sum += rows[t + i];
  if (which == 6)
    for (int i = 0; i < 64; i += 2) sum += s[i];
  if (which == 7)
    for (int i = 0; i < 32; ++i) sum += rows[lane * 33 + i];
  if (which == 8)
    for (int i = 0; i < 64; ++i) sum += static_cast<const volatile float*>(s)[i];
  if (which == 9)
    for (int i = 0; i < 16; ++i) {
      const float4 four = reinterpret_cast<const float4*>(s)[i];
      sum += (four.x + four.y) + (four.z + four.w);
    }
  if (which == 10) {
    for (int stride = 1; stride < 64; stride *= 2) {
      if (t % (2 * stride) == 0) s[t] += s[t + stride];
      __syncthreads();
    }
    sum = s[0];
  }
  if (which == 11)
    for (int i = 0; i < 64; ++i) {
      sum += s[i];
      __syncthreads();
    }
  out[t] = sum;
}

template <int kFactor, class T = float>
__global__ void scaled(const float* in, float* out) {
  out[threadIdx.x] = static_cast<T>(kFactor) * in[threadIdx.x];
}

__global__ void add_atomically(bool contended, unsigned* sum) {
  atomicAdd(&sum[contended ? 0 : threadIdx.x], 1u);
}

__global__ void count_in_shared(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1u);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

}  // namespace kernel

void load_words(int which, const float* in, float* out) { launch(kernel::load_words, 1, 32, which, in, out); }
void store_words(int which, float* out) { launch(kernel::store_words, 1, 32, which, out); }
void copy_words(int bytes, int lanes_each, int zeros, const float* in, float* out) {
  const auto copy = [&]<class Vector>(Vector* to) {
    launch(kernel::copy_words<Vector>, 1, 32, lanes_each, zeros, reinterpret_cast<const Vector*>(in), to);
  };
  if (bytes == 4) copy(out);
  if (bytes == 8) copy(reinterpret_cast<float2*>(out));
  if (bytes == 16) copy(reinterpret_cast<float4*>(out));
}
void sum_shared(int which, float* out) { launch(kernel::sum_shared, 1, 64, which, out); }
void scaled_by_templates(const float* in, float* out) {
  launch(kernel::scaled<2>, 1, 64, in, out);
  launch(kernel::scaled<3>, 1, 64, in, out);
  launch(kernel::scaled<3, short>, 1, 64, in, out);
}
void add_atomically(bool contended, unsigned* sum) { launch(kernel::add_atomically, 1, 64, contended, sum); }
void count_in_shared(unsigned* out) { launch(kernel::count_in_shared, 1, 64, out); }

}  // namespace DEVICE::test_kernels
