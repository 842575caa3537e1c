/// \file
/// Asynchronous copies from device memory to shared memory, with the names of cuda_pipeline.h. A thread may
/// read what it copied after a `__pipeline_wait_prior` that covers the copy's commit, other threads after a
/// barrier that follows. While a copy is in flight no thread may access its destination.
#pragma once

#include "cpu_device/dialect/runtime.hpp"

namespace cpu {

/// Issues a copy of 4, 8 or 16 bytes between addresses that are multiples of its size. The last `zeros` bytes
/// are not read; they become 0.
[[gnu::always_inline]] inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes,
                                                           size_t zeros = 0) {
  pipeline_copy(shared, global, bytes, zeros);
}
[[gnu::always_inline]] inline void __pipeline_commit() { pipeline_commit(); }
/// Waits until at most the last `left` commits of the calling thread are in flight; 8 is the most that can
/// be left.
[[gnu::always_inline]] inline void __pipeline_wait_prior(size_t left) { pipeline_wait(left); }

}  // namespace cpu
