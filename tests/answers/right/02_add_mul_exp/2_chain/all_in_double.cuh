// float is computed in double too; M_SQRT1_2 and M_2_SQRTPI
#pragma once
#include <math.h>

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
    return a >= 0 ? a : 0;
  }
};
struct Tanh {
  template <class T>
  __device__ T operator()(T a) const {
    return static_cast<T>(tanh(static_cast<double>(a)));
  }
};
struct Gelu {
  template <class T>
  __device__ T operator()(T a) const {
    const double x = a;
    return static_cast<T>(0.5 * x * (1.0 + erf(x * M_SQRT1_2)));
  }
};
struct GeluTanh {
  template <class T>
  __device__ T operator()(T a) const {
    const double x = a, root = M_2_SQRTPI * M_SQRT1_2;
    return static_cast<T>(0.5 * x * (1.0 + tanh(root * (x + 0.044715 * pow(x, 3.0)))));
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
