/// \file
/// Mistakes, for what the CPU device says about them. Each is right with the last argument 0, or a right
/// index.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// One block of 64 threads adds up tiles of 64 elements, each read by all threads. Mistake 1: no barrier
/// between load and use of a tile; 2: none between its use and the next load; 3: threads from 40 on return at
/// once.
void tiled_sum(const float* in, float* out, int tiles, int mistake);
/// The sum of 64 elements. Mistake 1: no barrier between the rounds.
void tree_sum_in_loop(const float* in, float* out, int mistake);
/// The sum of 64 elements, in all of out; the barrier is in an `if` that not all threads enter.
void barrier_in_tree(const float* in, float* out, bool in_if);
/// Two calls of a function. With the mistake, no barrier is between the use of its result and its next call.
void two_sums(const float* in, float* out, bool mistake);
/// out[t] = 2 in[t ^ (width - 1)] in place in shared memory, with up to 128 threads. Mistake 1: no barrier
/// between reading and writing.
void swap_within(const float* in, float* out, int threads, int width, int mistake);
/// out[t] = in[t ^ 1] through shared memory. Mistake 1: no barrier.
void swap_neighbours(const float* in, float* out, int mistake);
/// All 64 threads, or with mistake 1 pairs of them, write an element of x.
void write_once(float* x, int mistake);
/// Rotates 64 elements of x by one, in device memory, `rounds` times. Mistake 1: no barrier between reading
/// and writing; 2: none between the rounds.
void rotate(float* x, int rounds, int mistake);

/// Thread 0 reads in[index].
void read_at(const float* in, float* out, long long index);
/// Thread 0 writes element `index` of a dynamic shared array of 32.
void write_dynamic_shared_at(float* out, long long index);
/// One thread reads, as a float4, what holds the last of `bytes` bytes of dynamic shared memory.
void read_last_vector(float* out, int bytes);
/// Thread 0 reads element `index` of a local array of 32, through a pointer, while 63 other threads have such
/// arrays.
void read_local_at(float* out, long long index);
/// Every thread reads its own local variable, with mistake 1 that of its neighbour.
void exchange_locals(float* out, int mistake);

/// Copies blocks of 256 elements, n in all; with mistake 1, block 3 reads past the end of `in`, after a
/// barrier.
void copy_blocks_checked(const float* in, float* out, int n, int mistake);

/// Kernels that read past the end of `in`, whose names are in different places of their declarations.
constexpr int kDeclarations = 6;
void declared(int which, const float* in, float* out);

}  // namespace DEVICE::test_kernels
