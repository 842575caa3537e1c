// the result leaves through shared memory, four elements per lane at a time
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace DEVICE::linear_wmma {

struct Tile {
  float at[16][20];
};

__device__ inline bool first_of_warp_inside(int column, int n) { return column < n; }

__global__ void multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         float* __restrict__ product, unsigned k, unsigned n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) Tile tiles[4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned row = blockIdx.y * 16, column = (blockIdx.x * 4 + warp) * 16;
  if (!first_of_warp_inside(column, n)) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> of_x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> of_w;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  for (float& v : sum.x) v = 0.0f;
  for (unsigned step = 0; step < k / 16; ++step) {
    wmma::load_matrix_sync(of_x, x + row * k + 16 * step, k);
    wmma::load_matrix_sync(of_w, w + column * k + 16 * step, k);
    wmma::mma_sync(sum, of_x, of_w, sum);
  }
  wmma::store_matrix_sync(&tiles[warp].at[0][0], sum, 20, wmma::mem_row_major);
  __syncwarp();
  for (int r = lane / 4; r < 16; r += 8) {
    const float4 four = *reinterpret_cast<const float4*>(&tiles[warp].at[r][lane % 4 * 4]);
    *reinterpret_cast<float4*>(product + (row + r) * n + column + lane % 4 * 4) = four;
  }
#endif
}

}  // namespace DEVICE::linear_wmma
