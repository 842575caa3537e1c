/// \file
/// Stage 2: lanes along k, where the elements of both x and w are contiguous, and one warp per element of the
/// result. All 32 bytes of each sector are used.
#pragma once
#include "01_unfused.cuh"

namespace DEVICE::linear_gelu {

// [dot]
/// The sum of x[i] * w[i] over i < k, in every lane; the warp's lanes divide the terms among themselves.
__device__ inline float warp_dot(const float* __restrict__ x, const float* __restrict__ w, int k) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += 32) sum += x[i] * w[i];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}
// [dot]

/// product = x * w^T, matrices as in stage 1. In a block of 32 x columns threads, warp threadIdx.y computes
/// one column, and blockIdx.x is the row. Traffic: reads 8 bytes per multiplication and writes a sector for
/// each element of the result.
__global__ void product_along_rows(const float* __restrict__ x, const float* __restrict__ w,
                                   float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float sum = warp_dot(x + row * k, w + static_cast<size_t>(column) * k, k);
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

// --- On the host ---

inline Traffic coalesced_product_traffic(const Shape& s) {
  return product_traffic(s, 8 * y_elements(s) * k(s), 32 * y_elements(s));
}

struct Coalesced {
  static constexpr Stage row =
      kComputesY.with({.name = "02_coalesced", .idea = "lanes along k: one warp per element", .kernels = 3});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(product_along_rows, by_rows(a, 8), dim3(32, 8), a.x, a.w, data[kProduct], a.k, a.n);
    launch_bias_and_gelu(data);
  }
  static Traffic traffic(const Shape& s) { return coalesced_product_traffic(s) + bias_and_gelu_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
