/// \file
/// Kernels whose blocks do, or do not, depend on each other.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// One block per row: multiplies the row by 2 in place. Rows of which 32 bytes are shared with the next.
void double_rows(float* x, int rows, int columns);
/// One block per row of bytes, the same.
void double_byte_rows(signed char* x, int rows, int columns);
/// Adds 1 to each element, 64 per block; then the last block counts itself in `ended`.
void add_and_count(float* x, int* ended, int blocks);
/// Each block prints its number.
void print_blocks(float* x, int blocks);

/// Blocks of one warp: each, but the first, syncs its warp that often and then stores its number in x[0].
void sync_and_store(int* x, int blocks, int syncs);

/// A kernel of `blocks` blocks of 64 threads, in one of which a mistake happens.
struct BlockMistake {
  const char* name;
  /// `x` and `y` have 64 elements for each block; `index` is an int with the value 3.
  void (*run)(float* x, float* y, const int* index, int blocks);
};
struct BlockMistakes {
  const BlockMistake* first;
  int count;
};
BlockMistakes block_mistakes();

}  // namespace DEVICE::test_kernels
