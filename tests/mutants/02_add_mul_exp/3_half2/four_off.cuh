// the tail of a vector of four begins at n / 4, not at 4 * (n / 4) | out[
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

__global__ void scale_add(__half2 a, const __half* x, const __half* y, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int fours = n / 4;
  if (i < fours) {
    const __half2 *x2 = reinterpret_cast<const __half2*>(x), *y2 = reinterpret_cast<const __half2*>(y);
    __half2* out2 = reinterpret_cast<__half2*>(out);
    out2[2 * i] = __hfma2(a, x2[2 * i], y2[2 * i]);
    out2[2 * i + 1] = __hfma2(a, x2[2 * i + 1], y2[2 * i + 1]);
  }
  const int rest = fours + i;
  if (rest < n && rest >= n - n % 4 && i < 3) out[rest] = __hfma(__low2half(a), x[rest], y[rest]);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  launch(scale_add, n / 4 / 256 + 1, 256, __half2half2(a), x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
