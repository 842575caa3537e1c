// many small links: GELU is a chain itself; structs that inherit from a chain
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
    return b * a;
  }
};
struct Relu {
  template <class T>
  __device__ T operator()(T a) const {
    if (a > T(0)) return a;
    return T(0);
  }
};
struct Tanh {
  __device__ float operator()(float a) const { return ::tanhf(a); }
  __device__ double operator()(double a) const { return ::tanh(a); }
};
struct Erf {
  __device__ float operator()(float a) const { return ::erff(a); }
  __device__ double operator()(double a) const { return ::erf(a); }
};
struct OverRoot2 {
  template <class T>
  __device__ T operator()(T a) const {
    return a * T(0.70710678118654752);
  }
};
struct Cubic {
  template <class T>
  __device__ T operator()(T a) const {
    return T(0.79788456080286536) * (a + T(0.044715) * (a * a * a));
  }
};
struct HalfPlusOne {
  template <class T>
  __device__ T operator()(T a) const {
    return (a + T(1)) / T(2);
  }
};
/// a * P(a), where P is a chain of links.
template <class... Links>
struct TimesChain {
  template <class T>
  __device__ T operator()(T a) const {
    T p = a;
    ((p = Links()(p)), ...);
    return a * p;
  }
};

struct AddRelu : Chain<Add, Relu> {};
struct MultiplyTanh : Chain<Multiply, Tanh> {};
struct BiasGelu : Chain<Add, TimesChain<OverRoot2, Erf, HalfPlusOne>> {};
struct BiasGeluTanh : Chain<Add, TimesChain<Cubic, Tanh, HalfPlusOne>> {};

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
