// CUDA's header of this name, for programs: groups of a block, which are made of the barriers, votes
// and shuffles of cpu/warp.hpp.
#pragma once

namespace cooperative_groups {

/// `shuffle` of a value of any size: by words of 4 bytes where the instruction has no such size.
template <class T, class Shuffle>
[[gnu::always_inline]] inline T shuffled(T value, Shuffle shuffle) {
  if constexpr (sizeof value == 2 || sizeof value == 4 || sizeof value == 8) {
    return shuffle(value);
  } else {
    unsigned words[(sizeof value + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof value);
    for (unsigned& word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
  }
}

/// The lanes of a mask without its first `rank` ones.
[[gnu::always_inline]] inline unsigned lanes_from(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return mask;
}

/// A group that a function may take by value: a block, where `mask` is 0, or lanes of a warp.
class thread_group {
 public:
  [[gnu::always_inline]] thread_group() : mask_(0) {}
  [[gnu::always_inline]] explicit thread_group(unsigned mask) : mask_(mask) {}
  [[gnu::always_inline]] void sync() const { mask_ ? cpu::__syncwarp(mask_) : cpu::__syncthreads(); }
  [[gnu::always_inline]] unsigned thread_rank() const {
    if (mask_) return __builtin_popcount(mask_ & ((1u << cpu::lane_index()) - 1));
    const uint3 t = cpu::thread_index(), b = cpu::block_extent();
    return t.x + b.x * (t.y + b.y * t.z);
  }
  [[gnu::always_inline]] unsigned size() const {
    const uint3 b = cpu::block_extent();
    return mask_ ? __builtin_popcount(mask_) : b.x * b.y * b.z;
  }
  [[gnu::always_inline]] unsigned num_threads() const { return size(); }
  [[gnu::always_inline]] unsigned lanes() const { return mask_; }

 private:
  unsigned mask_;
};

class thread_block : public thread_group {
 public:
  [[gnu::always_inline]] static uint3 thread_index() { return cpu::thread_index(); }
  [[gnu::always_inline]] static uint3 group_index() { return cpu::block_index(); }
  [[gnu::always_inline]] static dim3 group_dim() {
    const uint3 b = cpu::block_extent();
    return {b.x, b.y, b.z};
  }
  [[gnu::always_inline]] static dim3 dim_threads() { return group_dim(); }
};
[[gnu::always_inline]] inline thread_block this_thread_block() { return {}; }
/// Shared memory for tiles of several warps.
template <unsigned MostThreads = 1024>
struct block_tile_memory {
  unsigned long long of_warps[(MostThreads + 31) / 32];
};
template <unsigned MostThreads>
[[gnu::always_inline]] inline thread_block this_thread_block(block_tile_memory<MostThreads>&) {
  return {};
}

/// All threads of the launch.
class grid_group {
 public:
  [[gnu::always_inline]] static unsigned long long size() { return num_blocks() * thread_block().size(); }
  [[gnu::always_inline]] static unsigned long long num_threads() { return size(); }
  [[gnu::always_inline]] static unsigned long long num_blocks() {
    const uint3 g = cpu::grid_extent();
    return static_cast<unsigned long long>(g.x) * g.y * g.z;
  }
  [[gnu::always_inline]] static unsigned long long block_rank() {
    const uint3 b = cpu::block_index(), g = cpu::grid_extent();
    return b.x + static_cast<unsigned long long>(g.x) * (b.y + static_cast<unsigned long long>(g.y) * b.z);
  }
  [[gnu::always_inline]] static unsigned long long thread_rank() {
    return block_rank() * thread_block().size() + thread_block().thread_rank();
  }
  [[gnu::always_inline]] static dim3 group_dim() {
    const uint3 g = cpu::grid_extent();
    return {g.x, g.y, g.z};
  }
  [[gnu::always_inline]] static bool is_valid() { return cpu::is_cooperative(); }
  [[gnu::always_inline]] static void sync() { cpu::grid_barrier(); }
};
[[gnu::always_inline]] inline grid_group this_grid() { return {}; }

/// Lanes of a warp, which have ranks from 0 on.
class coalesced_group : public thread_group {
 public:
  [[gnu::always_inline]] explicit coalesced_group(unsigned mask) : thread_group(mask) {}
  template <class T>
  [[gnu::always_inline]] T shfl(T value, unsigned rank) const {
    const unsigned from = lanes_from(lanes(), rank);
    const int source = from ? __builtin_ctz(from) : cpu::lane_index();
    return shuffled(value, [&](auto word) { return cpu::__shfl_sync(lanes(), word, source); });
  }
  template <class T>
  [[gnu::always_inline]] T shfl_up(T value, unsigned by) const {
    return shfl(value, thread_rank() < by ? thread_rank() : thread_rank() - by);
  }
  template <class T>
  [[gnu::always_inline]] T shfl_down(T value, unsigned by) const {
    return shfl(value, thread_rank() + by < size() ? thread_rank() + by : thread_rank());
  }
  /// A bit for each rank.
  [[gnu::always_inline]] unsigned ballot(int predicate) const {
    const unsigned all = cpu::__ballot_sync(lanes(), predicate);
    unsigned packed = 0, rank = 0;
    for (unsigned left = lanes(); left; left &= left - 1, ++rank)
      packed |= (all >> __builtin_ctz(left) & 1) << rank;
    return packed;
  }
  [[gnu::always_inline]] int any(int predicate) const { return cpu::__any_sync(lanes(), predicate); }
  [[gnu::always_inline]] int all(int predicate) const { return cpu::__all_sync(lanes(), predicate); }
};
[[gnu::always_inline]] inline coalesced_group coalesced_threads() {
  return coalesced_group(cpu::__activemask());
}

namespace detail {

/// Where a thread is in a tile of Size neighbouring threads of a block, and the tile among the others.
template <unsigned Size, class Group>
class tile_of : public Group {
 public:
  using Group::Group;
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  [[gnu::always_inline]] static unsigned thread_rank() { return thread_block().thread_rank() % Size; }
  [[gnu::always_inline]] static unsigned meta_group_rank() { return thread_block().thread_rank() / Size; }
  [[gnu::always_inline]] static unsigned meta_group_size() {
    return (thread_block().size() + Size - 1) / Size;
  }
};
struct several_warps {};

}  // namespace detail

/// Size neighbouring threads of a warp.
template <unsigned Size, class Parent = thread_block, bool OfSeveralWarps = (Size > 32)>
class thread_block_tile : public detail::tile_of<Size, thread_group> {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  [[gnu::always_inline]] thread_block_tile() : detail::tile_of<Size, thread_group>(mask()) {}
  template <class T>
  [[gnu::always_inline]] T shfl(T value, int source) const {
    return shuffled(value, [&](auto word) { return cpu::__shfl_sync(mask(), word, source, Size); });
  }
  template <class T>
  [[gnu::always_inline]] T shfl_down(T value, unsigned by) const {
    return shuffled(value, [&](auto word) { return cpu::__shfl_down_sync(mask(), word, by, Size); });
  }
  template <class T>
  [[gnu::always_inline]] T shfl_up(T value, unsigned by) const {
    return shuffled(value, [&](auto word) { return cpu::__shfl_up_sync(mask(), word, by, Size); });
  }
  template <class T>
  [[gnu::always_inline]] T shfl_xor(T value, int lanes) const {
    return shuffled(value, [&](auto word) { return cpu::__shfl_xor_sync(mask(), word, lanes, Size); });
  }
  [[gnu::always_inline]] unsigned ballot(int predicate) const {
    return cpu::__ballot_sync(mask(), predicate) >> first();
  }
  [[gnu::always_inline]] int any(int predicate) const { return cpu::__any_sync(mask(), predicate); }
  [[gnu::always_inline]] int all(int predicate) const { return cpu::__all_sync(mask(), predicate); }

 private:
  [[gnu::always_inline]] static unsigned first() { return thread_block().thread_rank() % 32 / Size * Size; }
  [[gnu::always_inline]] static unsigned mask() {
    return Size == 32 ? 0xffffffffu : ((1u << Size % 32) - 1) << first();
  }
};

/// Size neighbouring threads of a block, several warps. Threads of such a tile can wait for each other only
/// where it is the whole block.
template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> : public detail::tile_of<Size, detail::several_warps> {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "a tile has 2^n threads, 1024 at most");

 public:
  [[gnu::always_inline]] static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (thread_block().size() != Size)
      program::refuse("a barrier of several warps, but not of the whole block", file, line);
    cpu::__syncthreads();
  }
};

template <unsigned Size, class Group>
[[gnu::always_inline]] inline thread_block_tile<Size, Group> tiled_partition(const Group&) {
  return {};
}
/// So many neighbouring threads of a block, or lanes of a group.
[[gnu::always_inline]] inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned rank = parent.thread_rank() / size * size;
  if (!parent.lanes()) return thread_group(size >= 32 ? 0xffffffffu : ((1u << size) - 1) << rank % 32);
  const unsigned from = lanes_from(parent.lanes(), rank);
  return thread_group(from & ~lanes_from(from, size));
}
/// The lanes of a group for which the predicate is as it is for the calling one.
[[gnu::always_inline]] inline coalesced_group binary_partition(const thread_group& group, bool predicate) {
  const unsigned in_favour = cpu::__ballot_sync(group.lanes(), predicate);
  return coalesced_group(predicate ? in_favour : group.lanes() & ~in_favour);
}
template <class T>
[[gnu::always_inline]] inline coalesced_group labeled_partition(const thread_group& group, T label) {
  return coalesced_group(__match_any_sync(group.lanes(), label));
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

template <class T>
struct bit_and {
  [[gnu::always_inline]] T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  [[gnu::always_inline]] T operator()(T a, T b) const { return a | b; }
};

/// The reduction of a tile's values, in every thread.
template <unsigned Size, class Parent, class T, class Operation>
[[gnu::always_inline]] inline T reduce(const thread_block_tile<Size, Parent, false>& tile, T value,
                                       Operation operation) {
  for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2)
    value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}
template <unsigned Size, class Parent, class T, class Operation>
[[gnu::always_inline]] inline T reduce(const thread_block_tile<Size, Parent, true>&, T value, Operation,
                                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  program::refuse("the reduction of a tile of several warps", file, line);
  return value;
}
template <class T, class Operation>
[[gnu::always_inline]] inline T reduce(const coalesced_group& group, T value, Operation operation) {
  T all = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) all = operation(all, group.shfl(value, rank));
  return all;
}

}  // namespace cooperative_groups
