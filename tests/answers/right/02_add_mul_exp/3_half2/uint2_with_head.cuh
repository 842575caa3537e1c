// four halves per thread after a head that aligns out; x and y by pairs where they are not aligned
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

__global__ void scale_add(__half a, const __half* x, const __half* y, __half* out, int n) {
  const __half2 both = __half2half2(a);
  int head = static_cast<int>((8 - reinterpret_cast<size_t>(out) % 8) % 8 / sizeof(__half));
  if (head > n) head = n;
  const int fours = (n - head) / 4;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < fours) {
    const __half2* x2 = reinterpret_cast<const __half2*>(x + head) + 2 * i;
    const __half2* y2 = reinterpret_cast<const __half2*>(y + head) + 2 * i;
    __half2 p[2], q[2];
    if (reinterpret_cast<size_t>(x2) % 8 == 0) {
      *reinterpret_cast<uint2*>(p) = *reinterpret_cast<const uint2*>(x2);
    } else {
      p[0] = x2[0];
      p[1] = x2[1];
    }
    if (reinterpret_cast<size_t>(y2) % 8 == 0) {
      *reinterpret_cast<uint2*>(q) = *reinterpret_cast<const uint2*>(y2);
    } else {
      q[0] = y2[0];
      q[1] = y2[1];
    }
    __half2 r[2] = {__hfma2(both, p[0], q[0]), __hfma2(both, p[1], q[1])};
    *reinterpret_cast<uint2*>(out + head + 4 * i) = *reinterpret_cast<uint2*>(r);
  }
  if (i < head) out[i] = __hfma(a, x[i], y[i]);
  const int rest = head + 4 * fours + i;
  if (rest < n) out[rest] = __hfma(a, x[rest], y[rest]);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  launch(scale_add, n / 4 / 256 + 1, 256, a, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
