// eight neighbours per thread, as four loads: lanes 16 bytes apart | over budget: bytes read an element
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

__global__ void scale_add(__half2 a, const __half* x, const __half* y, __half* out, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4; ++i)
    if (i < n / 2)
      reinterpret_cast<__half2*>(out)[i] =
          __hfma2(a, reinterpret_cast<const __half2*>(x)[i], reinterpret_cast<const __half2*>(y)[i]);
  if (first == 0 && n % 2 == 1) out[n - 1] = __hfma(__low2half(a), x[n - 1], y[n - 1]);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  launch(scale_add, n / 8 / 256 + 1, 256, __half2half2(a), x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
