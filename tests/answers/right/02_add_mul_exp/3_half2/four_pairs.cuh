// four pairs per thread, one block width apart; early return; a lambda
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

constexpr int kPairs = 4;

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    scale_add(__half a, const __half2* __restrict__ x, const __half2* __restrict__ y,
              __half2* __restrict__ out, int n) {
  const auto f = [a](__half2 p, __half2 q) { return __hfma2(__halves2half2(a, a), p, q); };
  const int pairs = n / 2;
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
    const int i = (blockIdx.x * kPairs + j) * kThreads + threadIdx.x;
    if (i < pairs) out[i] = f(x[i], y[i]);
  }
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x != 0 || n % 2 == 0) return;
  const __half* last_x = reinterpret_cast<const __half*>(x) + n - 1;
  const __half* last_y = reinterpret_cast<const __half*>(y) + n - 1;
  reinterpret_cast<__half*>(out)[n - 1] = __hfma(a, *last_x, *last_y);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  launch(scale_add<128>, (n + 2 * kPairs * 128 - 1) / (2 * kPairs * 128), 128, a,
         reinterpret_cast<const __half2*>(x), reinterpret_cast<const __half2*>(y),
         reinterpret_cast<__half2*>(out), n);
}

}  // namespace DEVICE::add_mul_exp_half2
