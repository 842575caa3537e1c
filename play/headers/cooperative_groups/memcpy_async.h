// CUDA's header of this name, for programs: copies that the threads of a group share.
#pragma once
#include <type_traits>

#include "../cooperative_groups.h"
#include "../cuda/bits/copies.hpp"

namespace cooperative_groups {

/// Starts the copy of `bytes` bytes: each thread of the group copies every size()-th piece. A piece is as
/// large as the type's alignment if that is 4 bytes or more, as in CUDA; otherwise as addresses and size
/// allow.
template <class Group, class T, class Size>
[[gnu::always_inline]] inline void memcpy_async(const Group& group, T* to, const T* from, Size bytes) {
  const unsigned long all =
      reinterpret_cast<unsigned long>(to) | reinterpret_cast<unsigned long>(from) | bytes;
  unsigned long piece = all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 1;
  if constexpr (!std::is_void_v<T>)
    if (alignof(T) >= 4) piece = alignof(T) < 16 ? alignof(T) : 16;
  for (unsigned long i = group.thread_rank() * piece; i < bytes; i += group.size() * piece)
    cuda::detail::copy(reinterpret_cast<char*>(to) + i, reinterpret_cast<const char*>(from) + i, piece);
  cpu::__pipeline_commit();
}
/// Waits for all copies of the group but the last `Left`.
template <unsigned Left, class Group>
[[gnu::always_inline]] inline void wait_prior(const Group& group) {
  cpu::__pipeline_wait_prior(Left);
  group.sync();
}
template <class Group>
[[gnu::always_inline]] inline void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
