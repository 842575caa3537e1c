/// \file
/// Stage 14: the instructions under wmma. mma.sync multiplies 16 x 8 x 16 elements, and its operands lie in
/// registers as NVIDIA's PTX manual draws them; ldmatrix brings them there from shared memory, eight rows of
/// 16 bytes at a time. The tiles are three deep, copied asynchronously, and swizzled instead of padded: of
/// row r, the 16 bytes number c lie at place c ^ r % 8, so that eight rows at one c lie in different banks.
/// Compute capability 8.0.
#pragma once
#include "13_wmma.cuh"

namespace DEVICE::linear_gelu {

constexpr int kMmaThreads = 128, kMmaSide = 64;   // four warps, each with a square of 64 x 64
constexpr int kMmaDepth = 64, kRowBytes = 128;    // of k: a row of a tile is 128 bytes
constexpr int kMmaBuffers = 3;                    // two tiles on their way while one is multiplied
constexpr int kMmaTileBytes = kSide * kRowBytes;  // of x, and as many of w
constexpr int kMmaBytes = kMmaBuffers * 2 * kMmaTileBytes;
constexpr int kBandRows = 2048;

/// Pieces of `size` that cover n >= 1 elements.
__host__ __device__ inline int pieces(int n, int size) { return (n - 1) / size + 1; }

/// Tiles of rows x columns that cover a result of m x n.
__host__ __device__ inline int tiles_of(int m, int n, int rows, int columns) {
  return pieces(m, rows) * pieces(n, columns);
}

// [place]
/// Where a tile of the result begins.
struct Place {
  int row, column;
};

/// Tile number `tile` of a result of m x n in tiles of rows x columns, band by band of kBandRows, and down
/// the columns within a band: of x and of w, the blocks that run at a time then want about as many rows, and
/// few of both, which the L2 cache holds.
__device__ inline Place place_of(int tile, int m, int n, int rows, int columns) {
  const int down = pieces(m, rows), across = pieces(n, columns);
  const int band = kBandRows / rows;
  const int first = tile / (band * across) * band, in_band = tile % (band * across);
  const int height = min(band, down - first);
  return {(first + in_band % height) * rows, in_band / height * columns};
}
// [place]

__device__ inline unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

// [instructions]
/// Starts the copy of 16 bytes to shared memory, zeros but for the first `bytes` of them.
__device__ inline void copy_16_bytes(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

/// Loads four squares of 8 x 8 elements, of which lane l names row l % 8 of number l / 8: a lane gets
/// elements l % 4 * 2 and the next of row l / 4 of each.
__device__ inline void load_squares(unsigned (&squares)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(squares[0]), "=r"(squares[1]), "=r"(squares[2]), "=r"(squares[3])
               : "r"(row)
               : "memory");
}

/// sum += x * w^T for 16 x 16 elements of x and 8 x 16 of w. Of a lane, sum[0] and sum[1] are of row lane / 4
/// and columns lane % 4 * 2 and the next, sum[2] and sum[3] the same eight rows below.
__device__ inline void multiply_squares(float (&sum)[4], const unsigned (&x)[4], unsigned w0, unsigned w1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w0), "r"(w1));
}
// [instructions]

/// Writes the 16 x 8 elements from (row, column) of which a lane has four, as above, in pairs: n is even.
__device__ inline void store_square(const float* sum, __nv_bfloat16* product, int row, int column, int m,
                                    int n) {
  const int lane = threadIdx.x % 32;
  row += lane / 4;
  column += lane % 4 * 2;
  __nv_bfloat16* to = product + static_cast<size_t>(row) * n + column;
  if (column >= n) return;
  if (row < m) *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(sum[0], sum[1]);
  if (row + 8 < m)
    *reinterpret_cast<__nv_bfloat162*>(to + static_cast<size_t>(8) * n) =
        __floats2bfloat162_rn(sum[2], sum[3]);
}

/// What a warp multiplies at one step of 16 along k.
struct Squares {
  unsigned x[kMmaSide / 16][4], w[kMmaSide / 16][4];
};

/// product = x * w^T in bfloat16, matrices as in stage 1: any m; k and n multiples of 8; x and w begin at
/// multiples of 16 bytes, product at one of 4. A block of kMmaThreads threads and kMmaBytes of dynamic shared
/// memory per tile of kSide x kSide. Rows that a matrix does not have are copies of its last one, and what
/// becomes of them is not written. Traffic: half that of stage 7.
__global__ void __launch_bounds__(kMmaThreads, 2)
    product_by_mma(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                   __nv_bfloat16* __restrict__ product, int m, int k, int n) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const unsigned tiles_x = shared_address(dynamic_shared<__nv_bfloat16>());
  const unsigned tiles_w = tiles_x + kMmaBuffers * kMmaTileBytes;
  const Place place = place_of(blockIdx.x, m, n, kSide, kSide);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int in_row = warp / 2 * kMmaSide, in_column = warp % 2 * kMmaSide;
  const int steps = pieces(k, kMmaDepth);

  // Eight threads copy a row, and a thread every sixteenth row; its sources, in steps of 16 bytes.
  constexpr int kApart = kMmaThreads / 8, kRows = kSide / kApart;
  const int copy_row = threadIdx.x / 8, copy_i = threadIdx.x % 8;
  const unsigned copy_to = copy_row * kRowBytes + (copy_i ^ copy_row % 8) * 16;
  unsigned from_x[kRows], from_w[kRows];
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    from_x[j] = static_cast<unsigned>(min(place.row + copy_row + j * kApart, m - 1)) * (k / 8) + copy_i;
    from_w[j] = static_cast<unsigned>(min(place.column + copy_row + j * kApart, n - 1)) * (k / 8) + copy_i;
  }
  const auto fetch = [&](int step, int buffer) {
    if (step < steps) {
      const int bytes = step * kMmaDepth + copy_i * 8 < k ? 16 : 0;
      const uint4* of_x = reinterpret_cast<const uint4*>(x) + step * (kMmaDepth / 8);
      const uint4* of_w = reinterpret_cast<const uint4*>(w) + step * (kMmaDepth / 8);
      const unsigned to = copy_to + buffer * kMmaTileBytes;
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        copy_16_bytes(tiles_x + to + j * kApart * kRowBytes, of_x + from_x[j], bytes);
#pragma unroll
      for (int j = 0; j < kRows; ++j)
        copy_16_bytes(tiles_w + to + j * kApart * kRowBytes, of_w + from_w[j], bytes);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  const auto wait_for_tile = [&] {  // all copies but those of the last tile are there, for everyone
    asm volatile("cp.async.wait_group %0;" ::"n"(kMmaBuffers - 2) : "memory");
    __syncthreads();
  };

  // [loop]
  // Of x, the squares of ldmatrix are rows 0 to 7 and 8 to 15, then the same at the next 16 bytes; of w, the
  // two halves of rows 0 to 7, then those of 8 to 15: what mma.sync wants for 16 rows of x and for 2 x 8 of
  // w.
  const int row_x = in_row + lane % 16, half_x = lane / 16;
  const int row_w = in_column + lane / 16 * 8 + lane % 8, half_w = lane / 8 % 2;
  unsigned my_x[kMmaDepth / 16], my_w[kMmaDepth / 16];
#pragma unroll
  for (int i = 0; i < kMmaDepth / 16; ++i) {
    my_x[i] = tiles_x + row_x * kRowBytes + ((2 * i + half_x) ^ row_x % 8) * 16;
    my_w[i] = tiles_w + row_w * kRowBytes + ((2 * i + half_w) ^ row_w % 8) * 16;
  }
  Squares squares[2];
  const auto load = [&](Squares& to, int buffer, int i) {
#pragma unroll
    for (int r = 0; r < kMmaSide / 16; ++r)
      load_squares(to.x[r], my_x[i] + buffer * kMmaTileBytes + r * 16 * kRowBytes);
#pragma unroll
    for (int c = 0; c < kMmaSide / 16; ++c)
      load_squares(to.w[c], my_w[i] + buffer * kMmaTileBytes + c * 16 * kRowBytes);
  };

  for (int step = 0; step < kMmaBuffers - 1; ++step) fetch(step, step);
  wait_for_tile();
  load(squares[0], 0, 0);
  float sum[kMmaSide / 16][kMmaSide / 8][4] = {};
  int buffer = 0, free_buffer = kMmaBuffers - 1;
  for (int step = 0; step < steps; ++step) {
    const int next = buffer + 1 == kMmaBuffers ? 0 : buffer + 1;
    fetch(step + kMmaBuffers - 1, free_buffer);
#pragma unroll
    for (int i = 0; i < kMmaDepth / 16; ++i) {
      if (i + 1 < kMmaDepth / 16) {
        load(squares[(i + 1) % 2], buffer, i + 1);
      } else {
        wait_for_tile();
        load(squares[(i + 1) % 2], next, 0);
      }
      const Squares& of = squares[i % 2];
#pragma unroll
      for (int r = 0; r < kMmaSide / 16; ++r)
#pragma unroll
        for (int j = 0; j < kMmaSide / 8; ++j) {
          const int c = r % 2 == 0 ? j : kMmaSide / 8 - 1 - j;  // along a row and back along the next
          multiply_squares(sum[r][c], of.x[r], of.w[c / 2][c % 2 * 2], of.w[c / 2][c % 2 * 2 + 1]);
        }
    }
    free_buffer = buffer;
    buffer = next;
  }
  // [loop]

#pragma unroll
  for (int r = 0; r < kMmaSide / 16; ++r)
#pragma unroll
    for (int c = 0; c < kMmaSide / 8; ++c)
      store_square(sum[r][c], product, place.row + in_row + r * 16, place.column + in_column + c * 8, m, n);
#endif
}

}  // namespace DEVICE::linear_gelu
