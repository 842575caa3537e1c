// a grid-stride loop over pairs; thread 0 takes the odd element; names of the specification
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_half2 {

constexpr int kShapes = 256, kArrays = 512;
using pair = __half2;

__device__ inline pair fill(pair a, pair x, pair y) { return __hfma2(a, x, y); }

__global__ void run(__half a, const __half* x, const __half* y, __half* out, int n) {
  const int warps = n / 2, loads = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const pair both = __half2half2(a);
  for (int i = first; i < warps; i += loads)
    reinterpret_cast<pair*>(out)[i] =
        fill(both, reinterpret_cast<const pair*>(x)[i], reinterpret_cast<const pair*>(y)[i]);
  if (first == 0 && (n & 1)) out[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

inline void scaled_sum(__half a, const __half* x, const __half* y, __half* out, int n) {
  const int blocks = (n + 2 * kShapes - 1) / (2 * kShapes);
  launch(run, blocks < kArrays ? blocks : kArrays, kShapes, a, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_half2
