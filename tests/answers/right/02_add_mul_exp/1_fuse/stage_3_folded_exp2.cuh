// the lesson's stage 3: exp2f, with the factor 2 folded into the constant; early return
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

constexpr float kTwoLog2E = 2.885390081777927f;

__global__ void folded_exp2(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                            unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = exp2f((x[i] + y[i]) * kTwoLog2E);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, unsigned n) {
  const unsigned blocks = (n + 511) / 512;
  launch(folded_exp2, blocks, 512, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
