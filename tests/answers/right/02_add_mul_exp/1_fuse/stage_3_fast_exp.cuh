// the lesson's stage 3: __expf
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fast_exp(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __expf((x[i] + y[i]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fast_exp, ceil_div(n, 256), 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
