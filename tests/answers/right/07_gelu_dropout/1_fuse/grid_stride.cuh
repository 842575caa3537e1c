// a grid-stride loop over a fixed grid; names of the specification's
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

constexpr int kLimits = 1024, kArrays = 128;
__device__ inline float reference(float x, unsigned drawn, const Dropout& how) { return how(gelu(x), drawn); }
inline int elements(int n) { return n < kLimits * kArrays ? (n + kArrays - 1) / kArrays : kLimits; }

__global__ void run(const float* x, float* y, int n, Dropout dropout) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = reference(x[i], number<24>(dropout.random(i), 0), dropout);
}

inline void gelu_dropout(const float* x, signed char* mask, float* activated, float* y, int n,
                         Dropout dropout) {
  launch(run, elements(n), kArrays, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
