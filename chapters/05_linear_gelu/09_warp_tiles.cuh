/// \file
/// Stage 9: the threads of a warp are arranged for fast loads. The hardware serves a warp's 16-byte loads in
/// two halves. A half takes one wavefront where lanes in pairs (0 and 1, or 0 and 2, and so on) load the same
/// address. So the bits of a lane's number alternate between its row and its column, and each warp has a tile
/// of its own. The next tile is loaded into registers, 16 bytes at a time, while this one is multiplied, and
/// the operands of the next step are loaded one step ahead. A parameter, the epilogue, says how an element of
/// the product becomes one of the result.
#pragma once
#include "08_pipelined.cuh"
#include "epilogues.hpp"

namespace DEVICE::linear_gelu {

// [lanes]
constexpr int WM = 64, WN = 32;  // a warp's tile

/// A lane's row in its warp comes from bits 0, 2 and 4 of its number, its column from bits 1 and 3.
__device__ inline int row_of_lane(int lane) { return (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4); }
__device__ inline int column_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 2 & 2); }
// [lanes]

/// A thread's operands at one step of k.
struct Operands {
  float of_x[TM], of_w[TN];
};

/// acc += of_x * of_w^T, going down one column and up the next: each instruction then shares an operand with
/// the one before it, which is still at hand.
__device__ inline void add_products_zigzag(float (&acc)[TM][TN], const Operands& operands) {
#pragma unroll
  for (int c = 0; c < TN; ++c)
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int r = c % 2 == 0 ? j : TM - 1 - j;
      acc[r][c] += operands.of_x[r] * operands.of_w[c];
    }
}

/// Elements of x are stored in the tile as they were loaded.
struct AsItIs {
  __device__ float4 operator()(float4 v) const { return v; }
};

/// y = epilogue(load_x(x) * w^T), matrices as in stage 1: any m, k and n. `Load` is a type like AsItIs, and
/// `Epilogue` one of epilogues.hpp. `Whole` and blocks as in stage 8, but k must be a multiple of 2 * BK, and
/// x and w must start at multiples of 16 bytes. A warp computes WM x WN elements, and each of its threads two
/// groups of four rows times two groups of four columns. Traffic: that of stage 7, and what the epilogue
/// loads.
template <bool Whole, class Load, class Epilogue>
__global__ void __launch_bounds__(kThreads, 2)
    linear_by_warp_tiles(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                         int m, int k, int n, Load load_x, Epilogue epilogue) {
  constexpr int kWarpsAcross = BN / WN;
  alignas(16) __shared__ TileRow tiles[4][BK];
  auto *tile_x = tiles, *tile_w = tiles + 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / kWarpsAcross * WM + row_of_lane(lane) * 4;
  const int in_column = warp % kWarpsAcross * WN + column_of_lane(lane) * 4;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;

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
  const auto store_tiles = [&](int buffer) {
    store_transposed(tile_x[buffer], load_row, load_i, load_x(next_x));
    store_transposed(tile_w[buffer], load_row, load_i, next_w);
  };
  Operands operands[2];
  const auto load = [&](Operands& to, int buffer, int i) {
    load_two_fours(to.of_x, &tile_x[buffer][i][in_row], WM / 2);
    load_two_fours(to.of_w, &tile_w[buffer][i][in_column], WN / 2);
  };

  fetch(0);
  store_tiles(0);
  __syncthreads();
  load(operands[0], 0, 0);
  float acc[TM][TN] = {};
  // [loop]
  for (int first = 0; first < k; first += 2 * BK) {
#pragma unroll
    for (int buffer = 0; buffer < 2;
         ++buffer) {  // unrolled: the compiler then knows all addresses in the tiles
      fetch(first + (buffer + 1) * BK);
#pragma unroll
      for (int i = 0; i < BK; ++i) {
        if (i + 1 < BK) {
          load(operands[(i + 1) % 2], buffer, i + 1);
        } else {
          store_tiles(buffer ^ 1);
          __syncthreads();  // the next tile is complete, and no thread reads this one any more
          load(operands[0], buffer ^ 1, 0);
        }
        add_products_zigzag(acc, operands[i % 2]);
      }
    }
  }
  // [loop]

  const bool aligned = Whole || starts_vectors(y, n);
#pragma unroll
  for (int c = 0; c < TN; c += 4) {
    const int column = first_column + in_column + c / 4 * WN / 2;
    float of_column[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      of_column[j] = Whole || column + j < n ? epilogue.of_column(column + j) : 0.0f;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const int row = first_row + in_row + r / 4 * WM / 2 + r % 4;
      float results[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) results[j] = epilogue(acc[r][c + j], of_column[j]);
      if (Whole || row < m)
        store_four(y + static_cast<size_t>(row) * n + column, results, n - column, aligned);
    }
  }
}

// --- On the host ---

template <class Load, class Epilogue>
void launch_warp_tiles(const Factors& a, float* y, Load load, Epilogue epilogue) {
  const auto kernel = has_whole_tiles(a, y) ? linear_by_warp_tiles<true, Load, Epilogue>
                                            : linear_by_warp_tiles<false, Load, Epilogue>;
  launch(kernel, by_tiles(a, BM, BN), kThreads, a.x, a.w, y, a.m, a.k, a.n, load, epilogue);
}

/// With an epilogue that loads a bias. A warp that loads every fourth bias touches each sector four times,
/// and there is one such warp per row of warp tiles.
inline Traffic bias_epilogue_traffic(const Shape& s) {
  const long long bias = 16 * n(s) * ceil_div(s.dims[0], BM) * (BM / WM);
  return tile_traffic(s) + Traffic{bias, 0, bias - 4 * n(s)};
}

struct WarpTiles {
  static constexpr Stage row = kComputesProduct.with(
      {.name = "09_warp_tiles", .idea = "a warp's threads close together, all loads ahead"});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kProduct], AsItIs{}, NoEpilogue{});
  }
  static Traffic traffic(const Shape& s) { return tile_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
