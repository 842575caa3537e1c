#include "device.hpp"
#include "published.hpp"

namespace DEVICE::test_kernels {
namespace {

__global__ void naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                      int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += a[row * k + j] * b[j * n + column];
  out[row * n + column] = sum;
}

constexpr int kTile = 32;

__global__ void tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    tile_b[y][x] = column < n && first + y < k ? b[(first + y) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tile_a[y][j] * tile_b[j][x];
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = sum;
}

// The register-blocked product: a block computes kSide x kSide elements in steps of kDepth, a thread 4 x 4.
constexpr int kSide = 64, kDepth = 8, kThreads = kSide / 4 * kSide / 4;

/// Elements column .. column + 3 of a row of `matrix`, 0 where there are none. A row of a multiple of 4
/// starts on a multiple of 16 bytes.
__device__ inline float4 load_4(const float* matrix, int row, int column, int rows, int columns) {
  if (row >= rows) return make_float4(0, 0, 0, 0);
  const float* from = matrix + row * columns + column;
  if (columns % 4 == 0 && column < columns) return *reinterpret_cast<const float4*>(from);
  return make_float4(column < columns ? from[0] : 0.0f, column + 1 < columns ? from[1] : 0.0f,
                     column + 2 < columns ? from[2] : 0.0f, column + 3 < columns ? from[3] : 0.0f);
}

__device__ inline void store_4(float* matrix, int row, int column, int rows, int columns,
                               const float* value) {
  if (row >= rows) return;
  float* to = matrix + row * columns + column;
  if (columns % 4 == 0 && column < columns) {
    *reinterpret_cast<float4*>(to) = make_float4(value[0], value[1], value[2], value[3]);
    return;
  }
  for (int j = 0; j < 4; ++j)
    if (column + j < columns) to[j] = value[j];
}

/// Four neighbouring words of shared memory into registers, by one load where `Wide`.
template <bool Wide>
__device__ inline void fetch_4(float* to, const float* from) {
  if constexpr (Wide) {
    const float4 value = *reinterpret_cast<const float4*>(from);
    to[0] = value.x, to[1] = value.y, to[2] = value.z, to[3] = value.w;
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = from[j];
  }
}

template <bool Wide>
__global__ void registers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                          int m, int n, int k) {
  alignas(16) __shared__ float tile_a[kDepth][kSide];  // transposed, so that a column of a is in one row
  alignas(16) __shared__ float tile_b[kDepth][kSide];
  const int t = threadIdx.x, x = t % (kSide / 4) * 4, y = t / (kSide / 4) * 4;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  float sum[4][4] = {};
  for (int first = 0; first < k; first += kDepth) {
    if (t < kThreads / 2) {  // one half of the block loads a, the other b
      const int row = t / 2, depth = t % 2 * 4;
      const float4 value = load_4(a, first_row + row, first + depth, m, k);
      tile_a[depth][row] = value.x;
      tile_a[depth + 1][row] = value.y;
      tile_a[depth + 2][row] = value.z;
      tile_a[depth + 3][row] = value.w;
    } else {
      const int depth = (t - kThreads / 2) / 16, column = t % 16 * 4;
      *reinterpret_cast<float4*>(&tile_b[depth][column]) =
          load_4(b, first + depth, first_column + column, k, n);
    }
    __syncthreads();
    for (int depth = 0; depth < kDepth; ++depth) {
      float of_a[4], of_b[4];
      fetch_4<Wide>(of_a, &tile_a[depth][y]);
      fetch_4<Wide>(of_b, &tile_b[depth][x]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += of_a[i] * of_b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) store_4(out, first_row + y + i, first_column + x, m, n, sum[i]);
}

unsigned tiles(int length, int tile) { return (length - 1) / tile + 1; }

}  // namespace

void product_naive(const float* a, const float* b, float* out, int m, int n, int k) {
  launch(naive, dim3(tiles(n, 32), tiles(m, 8)), dim3(32, 8), a, b, out, m, n, k);
}
void product_tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  launch(tiled, dim3(tiles(n, kTile), tiles(m, kTile)), dim3(kTile, kTile), a, b, out, m, n, k);
}
void product_registers(const float* a, const float* b, float* out, int m, int n, int k) {
  launch(registers<false>, dim3(tiles(n, kSide), tiles(m, kSide)), kThreads, a, b, out, m, n, k);
}
void product_registers_wide(const float* a, const float* b, float* out, int m, int n, int k) {
  launch(registers<true>, dim3(tiles(n, kSide), tiles(m, kSide)), kThreads, a, b, out, m, n, k);
}

}  // namespace DEVICE::test_kernels
