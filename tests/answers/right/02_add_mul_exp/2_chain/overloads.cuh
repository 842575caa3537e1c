// erf and tanh of either type by one name, fmaxf and fmax by overloads; helpers with common names
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

constexpr double kA = 0.5, kB = 0.70710678118654752440;

__device__ inline float array(float a) { return fmaxf(a, 0.0f); }
__device__ inline double array(double a) { return fmax(a, 0.0); }

struct Kind {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

struct Relu {
  template <class T>
  __device__ T operator()(T a) const {
    return array(a);
  }
};

struct Tanh {
  template <class T>
  __device__ T operator()(T a) const {
    return tanh(a);
  }
};

struct Gelu {
  template <class T>
  __device__ T operator()(T a) const {
    return a * T(kA) * (T(1) + erf(a * T(kB)));
  }
};

struct GeluTanh {
  template <class T>
  __device__ T operator()(T a) const {
    const T inner = T(0.7978845608028654) * (a + T(0.044715) * a * a * a);
    return T(kA) * a * (T(1) + tanh(inner));
  }
};

using AddRelu = Chain<Add, Relu>;
using MultiplyTanh = Chain<Kind, Tanh>;
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
