/// \file
/// For the headers barrier and pipeline of libcu++, for programs: asynchronous copies.
#pragma once

#include "cpu_device/dialect/pipeline.hpp"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

template <unsigned long Alignment>
struct aligned_size_t {
  unsigned long value;
  constexpr explicit aligned_size_t(unsigned long size) : value(size) {}
  constexpr operator unsigned long() const { return value; }
};

namespace detail {

template <unsigned Bytes>
[[gnu::always_inline]] inline void copy_pieces(void* to, const void* from, unsigned long size) {
  for (unsigned long i = 0; i < size; i += Bytes)
    cpu::__pipeline_memcpy_async(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, Bytes);
}

/// Starts the copy of `size` bytes, in pieces as large as addresses and size allow. Bytes that are no words
/// are copied at once.
[[gnu::always_inline]] inline void copy(void* to, const void* from, unsigned long size) {
  const unsigned long all =
      reinterpret_cast<unsigned long>(to) | reinterpret_cast<unsigned long>(from) | size;
  if (all % 16 == 0)
    copy_pieces<16>(to, from, size);
  else if (all % 8 == 0)
    copy_pieces<8>(to, from, size);
  else if (all % 4 == 0)
    copy_pieces<4>(to, from, size);
  else
    for (unsigned long i = 0; i < size; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
}

}  // namespace detail
}  // namespace cuda
