// uint4 where all three arrays allow it, else pairs: two kernels, chosen on the host
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

__global__ void by_eights(__half2 a, const __half* x, const __half* y, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 8) {
    uint4 p = reinterpret_cast<const uint4*>(x)[i];
    const uint4 q = reinterpret_cast<const uint4*>(y)[i];
    __half2* p2 = reinterpret_cast<__half2*>(&p);
    const __half2* q2 = reinterpret_cast<const __half2*>(&q);
#pragma unroll
    for (int j = 0; j < 4; ++j) p2[j] = __hfma2(a, p2[j], q2[j]);
    reinterpret_cast<uint4*>(out)[i] = p;
  }
  const int rest = n / 8 * 8 + i;
  if (rest < n) out[rest] = __hfma(__low2half(a), x[rest], y[rest]);
}

__global__ void by_pairs(__half2 a, const __half* x, const __half* y, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2)
    reinterpret_cast<__half2*>(out)[i] = __hfma2(a, reinterpret_cast<const __half2*>(x)[i],
                                                 reinterpret_cast<const __half2*>(y)[i]);
  else if (i == n / 2 && n % 2)
    out[n - 1] = __hfma(__low2half(a), x[n - 1], y[n - 1]);
}

inline bool at_16(const void* p) { return reinterpret_cast<size_t>(p) % 16 == 0; }

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  const __half2 both = __half2half2(a);
  if (at_16(x) && at_16(y) && at_16(out))
    launch(by_eights, n / 8 / 256 + 1, 256, both, x, y, out, n);
  else
    launch(by_pairs, n / 2 / 256 + 1, 256, both, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
