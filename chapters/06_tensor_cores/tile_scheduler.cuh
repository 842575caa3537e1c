/// \file
/// Which tile of the result comes when. Blocks that run at the same time, or one block after the other, get
/// tiles that share rows of x and w, so that the L2 cache holds what they read.
#pragma once
#include "ceil_div.hpp"

namespace DEVICE::tensor_cores {

/// Tiles of rows x columns that cover a result of m x n.
__host__ __device__ inline int tile_count(int m, int n, int rows, int columns) {
  return ceil_div(m, rows) * ceil_div(n, columns);
}

constexpr int kBandRows = 2048;

// [scheduler]
/// Where a tile of the result starts.
struct Tile {
  int row, column;
};

/// Tile number `index` of an m x n result in tiles of rows x columns. The tiles are numbered band by band,
/// where a band is kBandRows rows of the result, and column by column within a band. Tiles with successive
/// numbers then use about the same number of rows of x and of w, and few of both, so the L2 cache can
/// hold them.
__device__ inline Tile tile_at(int index, int m, int n, int rows, int columns) {
  const int down = ceil_div(m, rows), across = ceil_div(n, columns);
  const int band = kBandRows / rows;
  const int first = index / (band * across) * band, in_band = index % (band * across);
  const int height = min(band, down - first);
  return {(first + in_band % height) * rows, in_band / height * columns};
}
// [scheduler]

}  // namespace DEVICE::tensor_cores
