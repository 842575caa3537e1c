/// \file
/// Kernels with known traffic and kernels with planted bugs, for the tests of the CPU device. Each function
/// launches one; all pointers are device memory.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// Two streams and a tree reduction.
void mul(const float* q, const float* k, float* out, int n);
void fma4(const float* q, const float* k, const float* v, float* out, int n);
void red(const float* in, float* out, int n);

/// out[i] = in[i * stride], one thread per element.
void strided(const float* in, float* out, int n, int stride);
/// Every thread reads in[0].
void broadcast(const float* in, float* out, int n);
/// Lane i of a warp reads in[31 - i] of the warp's 32 elements.
void reversed(const float* in, float* out, int n);
/// Each thread adds up `length` consecutive elements.
void rows(const float* in, float* out, int count, int length);
/// A whole block writes word t * stride of dynamic shared memory and reads it back.
void shared_stride(float* out, int threads, int stride);
/// out[i] = the block's index and the thread's, in three dimensions, as one number; grid and block 3 x 4 x 2.
void three_dimensions(int* out);
/// Threads t >= live return before the first barrier; the others add up the block through shared memory.
void early_return(const float* in, float* out, int threads, int live);
/// Copies through a __constant__ table and a local array.
void table_and_locals(const int* in, float* out, int n);

// Bugs.
void past_the_end(const float* in, float* out, int n);
void before_the_start(const float* in, float* out, int n);
void misaligned(const float* in, float* out);
void shared_from_last_block(const float* in, float* out);
void null_pointer(float* out);
void too_many_threads(float* out);
void too_much_shared(float* out);
void empty_grid(float* out);

}  // namespace DEVICE::test_kernels
