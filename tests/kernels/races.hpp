/// \file
/// Kernels with a race, each with a twin that has none: `mended` is the twin. And kernels that look like a
/// race and have none.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// Device memory, one block of 64 threads.
/// x[i] += x[i + 1] in place; x has 65 elements.
void add_next(float* x, bool mended);
/// x[0] becomes the sum of 128 elements, by a tree.
void tree_in_device_memory(float* x, bool mended);
/// All read count[0], the last thread sets it to 0.
void last_thread_resets(int* count, int* out, bool mended);
/// One thread does x[0] = x[1], another x[1] = x[1] + 1.
void reads_what_another_updates(int* x, bool mended);
/// All threads count, and read the count.
void reads_beside_atomics(int* count, int* out, bool mended);

/// Two blocks of 64 threads: x[i] becomes the mean of x[i] and x[i + 1], in place; `mended`: in out.
void halo_from_the_next_block(float* x, float* out, bool mended);

/// Two blocks store their number into the same 64 elements; `mended`: each into its own.
void numbers_as_bytes(signed char* q, bool mended);
void numbers_as_halfs(unsigned short* q, bool mended);
/// One block: threads read each other's bytes in shared memory.
void shared_bytes(signed char* out, bool mended);

// Stores to one word. `mended`: all threads store the same value, otherwise each its own.
void found_in_device_memory(int* found, bool mended);
void found_in_shared_memory(int* out, bool mended);
/// The sum of each warp, stored by all of its lanes.
void sums_of_warps(int* out, bool mended);
/// Half of the threads store the same; all read it. Otherwise without a barrier between.
void same_value_read_at_once(int* out, bool mended);

// Sums of 1 from each thread of two blocks of 128.
/// The atomicAdd(double) of the CUDA C++ Programming Guide; otherwise *sum += 1.
void compare_and_swap_sum(double* sum, bool mended);
/// Under a mutex in device memory that one lane of each warp takes; otherwise without its fences.
void mutex_of_warps(int* lock, int* sum, bool mended);
/// Under a mutex that every thread takes; otherwise each warp has a mutex of its own. `locks` has 4 elements.
void mutex_of_threads(int* locks, int* sum, bool mended);
/// Under a mutex in shared memory, with __threadfence_block(); out gets the sum of each block.
void mutex_in_shared_memory(int* out, bool mended);

// The last block adds up what 4 blocks of 64 threads have stored in `partial`. `count` is 0.
/// One partial sum per block; otherwise without its fence.
void last_block(int* partial, int* sum, unsigned* count, bool mended);
/// One partial sum per thread, a fence by each thread, a barrier, an atomic by one; otherwise without the
/// fence.
void last_block_of_threads(int* partial, int* sum, unsigned* count, bool mended);
/// The same with one fence, by the thread that counts; otherwise without the barrier before it.
void last_block_one_fence(int* partial, int* sum, unsigned* count, bool mended);
/// A fence and an atomic hand `data` from one block to the next; otherwise the next one looks at another
/// counter. `count` has 2 elements, 0 and 1.
void another_counter(int* data, int* out, int* count, bool mended);
/// __threadfence() hands `data` from one block to the next; otherwise it is __threadfence_block(). `count` is
/// 0.
void fence_of_the_block(int* data, int* out, int* count, bool mended);

// A volatile flag that one warp sets and another one waits for.
/// Otherwise the writer does without its fence. The warp that sets the flag is the first one of the block.
void volatile_flag(int* data, int* flag, int* out, bool mended);
/// The warp that waits is the first one.
void volatile_flag_waits_first(int* data, int* flag, int* out, bool mended);
/// The same from the first block to the second.
void volatile_flag_between_blocks(int* data, int* flag, int* out, bool mended);
/// The volatile sum of a warp in shared memory of old textbooks, without a __syncwarp.
void volatile_warp_sum(int* out, bool mended);

}  // namespace DEVICE::test_kernels
