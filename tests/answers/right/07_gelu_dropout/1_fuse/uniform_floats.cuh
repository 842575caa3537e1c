// the number as a float from 0 to 1, compared with p; the mask as a factor of 0 or 1
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float p = static_cast<float>(dropout.threshold) * 0x1p-24f;
  if (i < n) {
    const float uniform = static_cast<float>(dropout.random(i).x >> 8) * 0x1p-24f;  // exact, as p is
    const float keep = static_cast<float>(uniform >= p);
    y[i] = keep * dropout.scale * gelu(x[i]);
  }
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n - 1) / 512 + 1, 512, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
