// each thread has four neighbours: lanes 16 bytes apart | over budget: bytes read an element
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, float* y, int n, Dropout dropout) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i)
    y[i] = dropout(gelu(x[i]), number<24>(dropout.random(i), 0));
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 1023) / 1024, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
