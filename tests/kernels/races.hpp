/// \file
/// Kernels with a race, each with a twin that has none: `mended` is the twin. And kernels that look like a
/// race and have none.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// Without a twin.
/// All of 64 threads count, and read the count.
void reads_beside_atomics(int* count, int* out);
void read_by_many(int* count, int* out, bool mended);
/// Two blocks store their number into the same 64 elements.
void numbers_as_bytes(signed char* q);
/// One block: threads read each other's bytes in shared memory.
void shared_bytes(signed char* out);

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
