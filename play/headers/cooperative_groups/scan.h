// CUDA's header of this name, for programs.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

/// In each thread of a tile the reduction of its own value and those of the threads before it.
template <unsigned Size, class Parent, class T, class Operation = plus<T>>
[[gnu::always_inline]] inline T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value,
                                               Operation operation = {}) {
  for (unsigned by = 1; by < Size; by *= 2) {
    const T before = tile.shfl_up(value, by);
    if (tile.thread_rank() >= by) value = operation(before, value);
  }
  return value;
}
/// The same without its own value: T() in the first thread.
template <unsigned Size, class Parent, class T, class Operation = plus<T>>
[[gnu::always_inline]] inline T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value,
                                               Operation operation = {}) {
  const T before = tile.shfl_up(inclusive_scan(tile, value, operation), 1);
  return tile.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups
