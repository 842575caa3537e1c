/// \file
/// Asynchronous copies from device memory to shared memory, with the names of cuda_pipeline.h. What a copy
/// brings may be read by its own thread after a `__pipeline_wait_prior` that covers its commit, by others
/// after a barrier behind that. Until then nobody may touch the place.
#pragma once

#include "cpu/runtime.hpp"

namespace cpu {

/// Begins to copy `bytes` bytes, 4, 8 or 16, and as many aligned, of which the last `zeros` are not read but
/// become 0.
[[gnu::always_inline]] inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes,
                                                           size_t zeros = 0) {
  pipeline_copy(shared, global, bytes, zeros);
}
[[gnu::always_inline]] inline void __pipeline_commit() { pipeline_commit(); }
/// Waits until at most the last `left` commits of the calling thread are under way; more than 8 are taken
/// for 8.
[[gnu::always_inline]] inline void __pipeline_wait_prior(size_t left) { pipeline_wait(left); }

}  // namespace cpu
