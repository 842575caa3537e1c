// CUDA's header of this name, for published files: groups of a block, which are made of the barriers, votes
// and shuffles of cpu/warp.hpp.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  [[gnu::always_inline]] static void sync() { cpu::__syncthreads(); }
  [[gnu::always_inline]] static unsigned thread_rank() {
    const uint3 t = cpu::thread_index(), b = cpu::block_extent();
    return t.x + b.x * (t.y + b.y * t.z);
  }
  [[gnu::always_inline]] static unsigned size() {
    const uint3 b = cpu::block_extent();
    return b.x * b.y * b.z;
  }
  [[gnu::always_inline]] static unsigned num_threads() { return size(); }
  [[gnu::always_inline]] static uint3 thread_index() { return cpu::thread_index(); }
  [[gnu::always_inline]] static uint3 group_index() { return cpu::block_index(); }
  [[gnu::always_inline]] static dim3 group_dim() {
    const uint3 b = cpu::block_extent();
    return {b.x, b.y, b.z};
  }
  [[gnu::always_inline]] static dim3 dim_threads() { return group_dim(); }
};
[[gnu::always_inline]] inline thread_block this_thread_block() { return {}; }

struct grid_group;
__attribute__((unavailable(
    "the CPU device runs blocks one after the other, so grid.sync() is not there: launch two kernels")))
grid_group
this_grid();

/// Size neighbouring threads of a warp.
template <unsigned Size, class Parent = thread_block>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  [[gnu::always_inline]] static void sync() { cpu::__syncwarp(mask()); }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  [[gnu::always_inline]] static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  [[gnu::always_inline]] static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  [[gnu::always_inline]] static unsigned meta_group_size() {
    return (thread_block::size() + Size - 1) / Size;
  }
  template <class T>
  [[gnu::always_inline]] T shfl(T value, int source) const {
    return cpu::__shfl_sync(mask(), value, source, Size);
  }
  template <class T>
  [[gnu::always_inline]] T shfl_down(T value, unsigned by) const {
    return cpu::__shfl_down_sync(mask(), value, by, Size);
  }
  template <class T>
  [[gnu::always_inline]] T shfl_up(T value, unsigned by) const {
    return cpu::__shfl_up_sync(mask(), value, by, Size);
  }
  template <class T>
  [[gnu::always_inline]] T shfl_xor(T value, int lanes) const {
    return cpu::__shfl_xor_sync(mask(), value, lanes, Size);
  }
  [[gnu::always_inline]] unsigned ballot(int predicate) const {
    return cpu::__ballot_sync(mask(), predicate) >> first();
  }
  [[gnu::always_inline]] int any(int predicate) const { return cpu::__any_sync(mask(), predicate); }
  [[gnu::always_inline]] int all(int predicate) const { return cpu::__all_sync(mask(), predicate); }

 private:
  [[gnu::always_inline]] static unsigned first() { return thread_block::thread_rank() % 32 / Size * Size; }
  [[gnu::always_inline]] static unsigned mask() {
    return Size == 32 ? 0xffffffffu : ((1u << Size % 32) - 1) << first();
  }
};

template <unsigned Size, class Group>
[[gnu::always_inline]] inline thread_block_tile<Size, Group> tiled_partition(const Group&) {
  return {};
}
template <class Group>
[[gnu::always_inline]] inline void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  [[gnu::always_inline]] T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  [[gnu::always_inline]] T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct less {
  [[gnu::always_inline]] T operator()(T a, T b) const { return a < b ? a : b; }
};

/// The reduction of a tile's values, in every thread.
template <unsigned Size, class Parent, class T, class Operation>
[[gnu::always_inline]] inline T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                       Operation operation) {
  for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2)
    value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}

}  // namespace cooperative_groups
