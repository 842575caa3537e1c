// four steps of k at a time, one element of each tile per thread
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float xs[64][5], ws[64][5];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int lr = t >> 2, lk = t & 3;
  const int xr = blockIdx.y * 64 + lr, wr = blockIdx.x * 64 + lr;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 4) {
    xs[lr][lk] = (xr < m && k0 + lk < k) ? x[(size_t)xr * k + k0 + lk] : 0.f;
    ws[lr][lk] = (wr < n && k0 + lk < k) ? w[(size_t)wr * k + k0 + lk] : 0.f;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) {
      float a[4], b[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        a[r] = xs[ty + 16 * r][kk];
        b[r] = ws[tx + 16 * r][kk];
      }
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) acc[r][c] = fmaf(a[r], b[c], acc[r][c]);
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) {
      int row = blockIdx.y * 64 + ty + 16 * r, col = blockIdx.x * 64 + tx + 16 * c;
      if (row < m && col < n) product[(size_t)row * n + col] = acc[r][c];
    }
}

}  // namespace DEVICE::linear_register_tile
