// one block does everything | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

__global__ void fused(const float* x, float scale, float zero_point, signed char* q, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float step = rintf(x[i] / scale + zero_point);
    q[i] = static_cast<signed char>(step != step ? 0.0f : fminf(fmaxf(step, -128.0f), 127.0f));
  }
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, int n) {
  launch(fused, 1, 1024, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_fuse
