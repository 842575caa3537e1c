// blocks of 32 x 8 threads, a functor as a template argument
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

struct ExpOfTwiceTheSum {
  __device__ float operator()(float a, float b) const {
    const float sum = a + b;
    return expf(sum + sum);
  }
};

template <typename Op>
__global__ void apply(const float* x, const float* y, float* out, int n, Op op) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int i = blockIdx.x * (blockDim.x * blockDim.y) + thread;
  if (i < n) out[i] = op(x[i], y[i]);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  const dim3 block(32, 8);
  const dim3 grid((n + 255) / 256);
  launch(apply<ExpOfTwiceTheSum>, grid, block, x, y, out, n, ExpOfTwiceTheSum{});
}

}  // namespace DEVICE::add_mul_exp_fuse
