// 0.7071 in float | bias_gelu_float32[
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

struct Multiply {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};
struct Relu {
  template <class T>
  __device__ T operator()(T a) const {
    return a > T(0) ? a : T(0);
  }
};
struct Tanh {
  __device__ float operator()(float a) const { return tanhf(a); }
  __device__ double operator()(double a) const { return tanh(a); }
};
struct Gelu {
  __device__ float operator()(float a) const { return 0.5f * a * (1.0f + erff(a * 0.7071f)); }
  __device__ double operator()(double a) const { return 0.5 * a * (1.0 + erf(a * 0.70710678118654752)); }
};
struct GeluTanh {
  template <class T>
  __device__ T operator()(T a) const {
    return T(0.5) * a * (T(1) + Tanh()(T(0.79788456080286536) * (a + T(0.044715) * a * a * a)));
  }
};

using AddRelu = Chain<Add, Relu>;
using MultiplyTanh = Chain<Multiply, Tanh>;
using BiasGelu = Chain<Add, Gelu>;
using BiasGeluTanh = Chain<Add, GeluTanh>;

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
