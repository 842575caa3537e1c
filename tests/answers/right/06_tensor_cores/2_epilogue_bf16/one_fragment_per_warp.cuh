// one fragment per warp, eight warps per block, another kernel and launch; names of a specification
#pragma once
#include "device.hpp"
#include "epilogues.hpp"
#include "halves.hpp"

namespace DEVICE::linear_epilogue_bf16 {

constexpr unsigned kShapes = 16, kArrays = 8;

__device__ inline unsigned elements(unsigned rows, unsigned columns) { return rows * columns; }

template <class Finish>
__global__ void run(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                    __nv_bfloat16* __restrict__ y, unsigned k, unsigned n, Finish finish) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) float limits[kArrays][kShapes][kShapes + 4];
  const unsigned row = blockIdx.y * kShapes, column = (blockIdx.x * kArrays + threadIdx.y) * kShapes;
  if (column >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> columns;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (unsigned i = 0; i < k; i += kShapes) {
    wmma::load_matrix_sync(rows, x + elements(row, k) + i, k);
    wmma::load_matrix_sync(columns, w + elements(column, k) + i, k);
    wmma::mma_sync(sum, rows, columns, sum);
  }
  auto& mine = limits[threadIdx.y];
  wmma::store_matrix_sync(mine[0], sum, kShapes + 4, wmma::mem_row_major);
  __syncwarp();
  for (unsigned e = threadIdx.x; e < kShapes * kShapes; e += 32) {
    const unsigned r = e / kShapes, c = e % kShapes;
    y[elements(row + r, n) + column + c] =
        from_float<__nv_bfloat16>(finish(mine[r][c], finish.of_column(column + c)));
  }
#endif
}

void linear(const __nv_bfloat16* x, const __nv_bfloat16* w, const float* bias, float*, __nv_bfloat16* y,
            int m, int k, int n) {
  const dim3 blocks((n + 127) / 128, m / 16);
  launch(run<BiasGelu>, blocks, dim3(32, kArrays), x, w, y, k, n, BiasGelu{bias});
}

}  // namespace DEVICE::linear_epilogue_bf16
