// four structs that do not use Chain, with plain device functions
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_chain {

/// First(a, b), then each of Rest applied to the result of the one before.
template <class First, class... Rest>
struct Chain {
  template <class T>
  __device__ T operator()(T a, T b) const {
    T value = First()(a, b);
    ((value = Rest()(value)), ...);
    return value;
  }
};

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

__device__ inline float relu(float a) { return a > 0.0f ? a : 0.0f; }
__device__ inline double relu(double a) { return a > 0.0 ? a : 0.0; }
__device__ inline float gelu(float a) { return a * 0.5f * (1.0f + erff(a / sqrtf(2.0f))); }
__device__ inline double gelu(double a) { return a * 0.5 * (1.0 + erf(a / sqrt(2.0))); }
__device__ inline float gelu_tanh(float a) {
  const float cube = a * a * a;
  return a * 0.5f * (1.0f + tanhf(0.7978845608f * (a + 0.044715f * cube)));
}
__device__ inline double gelu_tanh(double a) {
  const double cube = a * a * a;
  return a * 0.5 * (1.0 + tanh(0.7978845608028653559 * (a + 0.044715 * cube)));
}

struct AddRelu {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return relu(a + b);
  }
};
struct MultiplyTanh {
  __device__ float operator()(float a, float b) const { return tanhf(a * b); }
  __device__ double operator()(double a, double b) const { return tanh(a * b); }
};
struct BiasGelu {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return gelu(a + b);
  }
};
struct BiasGeluTanh {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return gelu_tanh(a + b);
  }
};

// --- Given: the types that are computed in, and the kernel ---

__device__ inline float widened(float a) { return a; }
__device__ inline double widened(double a) { return a; }
__device__ inline float widened(__half a) { return __half2float(a); }
__device__ inline float widened(__nv_bfloat16 a) { return __bfloat162float(a); }
__device__ inline void store(float* to, float a) { *to = a; }
__device__ inline void store(double* to, double a) { *to = a; }
__device__ inline void store(__half* to, float a) { *to = __float2half(a); }
__device__ inline void store(__nv_bfloat16* to, float a) { *to = __float2bfloat16(a); }

/// out[i] = Function()(a[i], b[i]), one thread per element.
template <class Function, class T>
__global__ void elementwise(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(&out[i], Function()(widened(a[i]), widened(b[i])));
}

}  // namespace DEVICE::add_mul_exp_chain
