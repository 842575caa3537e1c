/// \file
/// Stage 9: who in a warp does what. A load of 16 bytes a lane is served in halves of a warp, and a half
/// takes one wavefront where lanes in pairs (0 and 1, or 0 and 2, and so on) want the same. So rows and
/// columns take turns in the bits of the lane's number, and a warp has a tile of its own. What becomes of an
/// element at the end is a parameter, the epilogue.
#pragma once
#include "8_pipelined.cuh"

namespace DEVICE::linear_gelu {

/// A block's tile, a warp's part of it, and how many tiles of x and w are in shared memory at a time. A warp
/// is 4 x 8 threads, which have every 4th row and every 8th column of its part. A row of a tile has 24 words:
/// whole sectors, and the vectors of 4 rows lie in different banks.
struct Tiles {
  static constexpr int kRows = 128, kColumns = 128, kWarpRows = 32, kWarpColumns = 64, kBuffers = 3;
  static constexpr int kThreadRows = kWarpRows / 4, kThreadColumns = kWarpColumns / 8;
  static constexpr int kWarpsAcross = kColumns / kWarpColumns, kPitch = kPart + 8;
  static constexpr int kBytes = kBuffers * (kRows + kColumns) * kPitch * static_cast<int>(sizeof(float));
  static_assert(kRows / kWarpRows * kWarpsAcross * 32 == kCopyThreads);
};

/// Of a lane, bits 1 and 3: its row in the warp, and bits 0, 2 and 4: its column.
__device__ inline int row_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 2 & 2); }
__device__ inline int column_of_lane(int lane) { return (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4); }

/// An epilogue knows something of a column, and makes an element of the result from it and from the sum. This
/// one leaves the product as it is.
struct NoEpilogue {
  __device__ float of_column(int) const { return 0.0f; }
  __device__ float operator()(float sum, float) const { return sum; }
};

/// y = epilogue(x * w^T), matrices as in stage 1: any m, k and n; `Width` as in copy_tile(). A block
/// of kCopyThreads threads per tile, with Tiles::kBytes of dynamic shared memory. Traffic: 4mnk(1/kRows +
/// 1/kColumns) bytes read, and what the epilogue asks for.
template <int Width, class Epilogue>
__global__ void __launch_bounds__(kCopyThreads)
    linear_by_warp_tiles(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         int m, int k, int n, Epilogue epilogue) {
  using Tile = float[Tiles::kPitch];
  Tile* tiles_x = dynamic_shared<Tile>();
  Tile* tiles_w = tiles_x + Tiles::kBuffers * Tiles::kRows;
  const int first_row = blockIdx.y * Tiles::kRows, first_column = blockIdx.x * Tiles::kColumns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / Tiles::kWarpsAcross * Tiles::kWarpRows + row_of_lane(lane);
  const int in_column = warp % Tiles::kWarpsAcross * Tiles::kWarpColumns + column_of_lane(lane);
  const auto copy = [&](int buffer, int first) {
    if (first < k) {
      copy_tile<Tiles::kRows, Width>(tiles_x + buffer * Tiles::kRows, x, first_row, first, m, k);
      copy_tile<Tiles::kColumns, Width>(tiles_w + buffer * Tiles::kColumns, w, first_column, first, n, k);
    }
    __pipeline_commit();
  };
  for (int buffer = 0; buffer < Tiles::kBuffers - 1; ++buffer) copy(buffer, buffer * kPart);

  float sum[Tiles::kThreadRows][Tiles::kThreadColumns] = {};
  int buffer = 0, free_buffer = Tiles::kBuffers - 1;
  for (int first = 0; first < k; first += kPart) {
    __pipeline_wait_prior(Tiles::kBuffers - 2);
    __syncthreads();  // this tile is there, and everyone is done with the one before
    copy(free_buffer, first + (Tiles::kBuffers - 1) * kPart);
    const Tile* tile_x = tiles_x + buffer * Tiles::kRows + in_row;
    const Tile* tile_w = tiles_w + buffer * Tiles::kColumns + in_column;
#pragma unroll
    for (int i = 0; i < kPart; i += 4) {
      float4 of_w[Tiles::kThreadColumns];
#pragma unroll
      for (int c = 0; c < Tiles::kThreadColumns; ++c) of_w[c] = vector_of(&tile_w[c * 8][i]);
#pragma unroll
      for (int r = 0; r < Tiles::kThreadRows; ++r) {
        const float4 of_x = vector_of(&tile_x[r * 4][i]);
#pragma unroll
        for (int c = 0; c < Tiles::kThreadColumns; ++c) sum[r][c] = plus_products(sum[r][c], of_x, of_w[c]);
      }
    }
    buffer = buffer + 1 == Tiles::kBuffers ? 0 : buffer + 1;
    free_buffer = free_buffer + 1 == Tiles::kBuffers ? 0 : free_buffer + 1;
  }
#pragma unroll
  for (int c = 0; c < Tiles::kThreadColumns; ++c) {
    const int column = first_column + in_column + c * 8;
    if (column >= n) continue;
    const auto of_column = epilogue.of_column(column);
#pragma unroll
    for (int r = 0; r < Tiles::kThreadRows; ++r) {
      const int row = first_row + in_row + r * 4;
      if (row < m) y[static_cast<size_t>(row) * n + column] = epilogue(sum[r][c], of_column);
    }
  }
}

}  // namespace DEVICE::linear_gelu
