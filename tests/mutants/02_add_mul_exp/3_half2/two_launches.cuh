// the odd element has a launch of its own | over budget: launches
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

__global__ void by_pairs(__half2 a, const __half* x, const __half* y, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2)
    reinterpret_cast<__half2*>(out)[i] =
        __hfma2(a, reinterpret_cast<const __half2*>(x)[i], reinterpret_cast<const __half2*>(y)[i]);
}
__global__ void last_one(__half a, const __half* x, const __half* y, __half* out, int n) {
  out[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  launch(by_pairs, n / 2 / 256 + 1, 256, __half2half2(a), x, y, out, n);
  if (n % 2 == 1) launch(last_one, 1, 1, a, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
