// a template of a kernel that takes a functor
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

struct MultiplyAdd {
  __device__ float operator()(float a, float b, float c) const { return a * b + c; }
};

template <int Threads, class Op>
__global__ void __launch_bounds__(Threads)
    zip(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ c,
        float* __restrict__ result, long long count, Op op) {
  const long long i = static_cast<long long>(blockIdx.x) * Threads + threadIdx.x;
  if (i < count) result[i] = op(a[i], b[i], c[i]);
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  constexpr int kThreads = 128;
  launch(zip<kThreads, MultiplyAdd>, (n + kThreads - 1) / kThreads, kThreads, q, k, v, out, n, MultiplyAdd());
}

}  // namespace DEVICE::multiply_add_fuse
