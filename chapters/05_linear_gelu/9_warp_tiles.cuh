/// \file
/// Stage 9: who in a warp does what. A load of 16 bytes a lane is served in halves of a warp, and a half
/// takes one wavefront where lanes in pairs (0 and 1, or 0 and 2, and so on) want the same. So rows and
/// columns take turns in the bits of the lane's number, and a warp has a tile of its own. The next tile is
/// on its way to registers, 16 bytes a load, and what is multiplied next is loaded a step ahead. What
/// becomes of an element at the end is a parameter, the epilogue.
#pragma once
#include "8_pipelined.cuh"

namespace DEVICE::linear_gelu {

constexpr int kWarpRows = 64, kWarpColumns = 32;

/// Of a lane, bits 0, 2 and 4: its row in the warp, and bits 1 and 3: its column.
__device__ inline int row_of_lane(int lane) { return (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4); }
__device__ inline int column_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 2 & 2); }

/// What a thread multiplies at one step of k.
struct Operands {
  float of_x[kEach], of_w[kEach];
};

/// sum += of_x * of_w^T, down a column and up the next one, so that an instruction finds an operand of the
/// one before it still at hand.
__device__ inline void add_products_by_turns(float (&sum)[kEach][kEach], const Operands& operands) {
#pragma unroll
  for (int c = 0; c < kEach; ++c)
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int r = c % 2 == 0 ? j : kEach - 1 - j;
      sum[r][c] += operands.of_x[r] * operands.of_w[c];
    }
}

/// What is done to x on its way into the tile: nothing.
struct AsItIs {
  __device__ float4 operator()(float4 v) const { return v; }
};

/// An epilogue knows something of a column, and makes an element of the result from it and from the sum. This
/// one leaves the product as it is.
struct NoEpilogue {
  __device__ float of_column(int) const { return 0.0f; }
  __device__ float operator()(float sum, float) const { return sum; }
};

/// y = epilogue(load(x) * w^T), matrices as in stage 1, `Load` as in AsItIs: any m, k and n; `Whole` and
/// blocks as in stage 8, but k a multiple of 2 * kDepth, and x and w begin at multiples of 16 bytes. A warp
/// has kWarpRows x kWarpColumns elements, and a thread of it twice four rows and twice four columns. Traffic:
/// that of stage 7, and what the epilogue asks for.
template <bool Whole, class Load, class Epilogue>
__global__ void __launch_bounds__(kThreads, 2)
    linear_by_warp_tiles(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         int m, int k, int n, Load load_x, Epilogue epilogue) {
  constexpr int kWarpsAcross = kSide / kWarpColumns;
  alignas(16) __shared__ TileRow tiles[4][kDepth];
  auto *tile_x = tiles, *tile_w = tiles + 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * kWarpRows + row_of_lane(lane) * 4;
  const int in_column = warp % kWarpsAcross * kWarpColumns + column_of_lane(lane) * 4;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;

  const int load_row = threadIdx.x / 2, load_i = threadIdx.x % 2 * 4;
  const float* my_x = x + static_cast<size_t>(first_row + load_row) * k + load_i;
  const float* my_w = w + static_cast<size_t>(first_column + load_row) * k + load_i;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const bool vectors = starts_vectors(x, k) && starts_vectors(w, k);
  float4 next_x = {}, next_w = {};
  const auto fetch = [&](int first) {
    if constexpr (Whole) {
      if (first >= k) return;
      next_x = *reinterpret_cast<const float4*>(my_x + first);
      next_w = *reinterpret_cast<const float4*>(my_w + first);
    } else {
      next_x = has_x ? load_four(my_x + first, k - first - load_i, vectors) : float4{};
      next_w = has_w ? load_four(my_w + first, k - first - load_i, vectors) : float4{};
    }
  };
  const auto put = [&](int buffer) {
    put_four(tile_x[buffer], load_row, load_i, load_x(next_x));
    put_four(tile_w[buffer], load_row, load_i, next_w);
  };
  Operands operands[2];
  const auto load = [&](Operands& to, int buffer, int i) {
    eight_of(to.of_x, &tile_x[buffer][i][in_row], kWarpRows / 2);
    eight_of(to.of_w, &tile_w[buffer][i][in_column], kWarpColumns / 2);
  };

  fetch(0);
  put(0);
  __syncthreads();
  load(operands[0], 0, 0);
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += 2 * kDepth) {
#pragma unroll
    for (int buffer = 0; buffer < 2; ++buffer) {  // so that the compiler knows all addresses in the tiles
      fetch(first + (buffer + 1) * kDepth);
#pragma unroll
      for (int i = 0; i < kDepth; ++i) {
        if (i + 1 < kDepth) {
          load(operands[(i + 1) % 2], buffer, i + 1);
        } else {
          put(buffer ^ 1);
          __syncthreads();  // the next tile is there, and everyone is done with this one
          load(operands[0], buffer ^ 1, 0);
        }
        add_products_by_turns(sum, operands[i % 2]);
      }
    }
  }

  const bool aligned = Whole || starts_vectors(y, n);
#pragma unroll
  for (int c = 0; c < kEach; c += 4) {
    const int column = first_column + in_column + c / 4 * kWarpColumns / 2;
    float of_column[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      of_column[j] = Whole || column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int row = first_row + in_row + r / 4 * kWarpRows / 2 + r % 4;
      float results[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) results[j] = epilogue(sum[r][c + j], of_column[j]);
      if (Whole || row < m)
        store_four(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
    }
  }
}

}  // namespace DEVICE::linear_gelu
