/// \file
/// Kernels whose threads wait for each other in loops: flags, locks and counters that they poll.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// Kernels of one block. Arrays that are polled begin as zeros.

/// Two warps. The threads of the first wait for flag[0], which thread 63 sets to 1 after value[0] to 42, and
/// store the value in out[t].
void flag_between_warps(int* flag, int* value, int* out);
/// The same with a flag and a value in shared memory.
void shared_flag_between_warps(int* out);
/// The same in a function that is not inlined.
void flag_out_of_line(int* flag, int* value, int* out);
/// The same, but each thread counts its polls: out[t] is 1000 if the value was there, plus 1 if it polled
/// more than once.
void flag_with_count(int* flag, int* value, int* out);
/// The same with a volatile flag, and a value that is read and written plainly.
void volatile_flag_between_warps(int* flag, int* value, int* out);
/// The same with both in shared memory.
void shared_volatile_flag(int* out);
/// Two warps. Thread 0 waits for flag[0], which thread 32 sets; then both warps store: out[t] = t.
void one_lane_waits(int* flag, int* out);
/// Two warps. Thread 0 waits for flag[0], which thread 32 sets to 7, while its warp waits in __syncwarp().
/// Then all 32 store what it read: out[t] = 7.
void waits_before_syncwarp(int* flag, int* out);
/// One warp. Thread 0 waits for flag[0], which thread 31 sets after a loop of 1000 atomics on work[0].
void slow_producer_in_warp(int* flag, int* work, int* out);
/// Two warps hand over turn[0] to each other that many times each; it ends as twice that many.
void ping_pong(int* turn, int rounds);

enum class Lock { kCompareAndSwap, kExchange, kTicket, kOutOfLine };
/// 256 threads each take the lock, read count[0], do a loop of 40 atomics, and write count[0] plus 1. The
/// n-th to do so stores its number in order[n]. lock has 2 elements.
void locked_count(Lock kind, int* lock, int* count, int* work, int* order);
/// 256 threads each take the lock and add 1 to count[0], plainly.
void locked_plain_count(int* lock, int* count);
/// The slow count by the first lane of each of 8 warps, with __syncwarp() after it.
void locked_by_leaders(int* lock, int* count, int* work);

// Of several blocks.

/// Block b waits for flag[b - 1] (the first for none) and sets flag[b]; the other way round it waits for
/// flag[b + 1] (the last for none).
void chain_of_blocks(int* flag, int blocks, bool forward);
/// Each block counts itself and waits until all have.
void grid_barrier(int* count, int blocks);
/// Block 0 takes the lock and keeps it; the other waits for it.
void lock_kept(int* lock);

// Mistakes; each is right when `mended`.
/// The threads of the first of two warps wait for a flag in shared memory that a thread of the second sets
/// only after a barrier; `mended`: before it.
void flag_after_barrier(int* out, bool mended);
/// Thread 0 takes lock 0, then lock 1; thread 32 takes them the other way round, and each waits for the
/// other; `mended`: in the same order.
void two_locks(int* locks, bool mended);
/// 64 threads wait for a flag that nobody sets; `mended`: thread 0 sets it.
void flag_never_set(int* flag, bool mended);
/// Lane 0 waits for a flag that lane 1 sets after a __syncwarp() of all; `mended`: before it.
void flag_after_syncwarp(int* flag, bool mended);
/// A loop whose index does not move on.
void index_stands_still(const int* in, int* out, int n, bool mended);
/// A loop that does nothing, for ever.
void empty_loop(int* out, bool mended);
void jumps_to_itself(int* out, bool mended);
/// never_one in a function that is not inlined.
void never_one_out_of_line(unsigned* out, bool mended);

// No mistakes, and no spins.
/// Two warps. Thread t reads in[0] n + t % 4 times, and adds up what it reads.
void read_again_and_again(const float* in, float* out, int n);
/// Two warps. Thread t computes n + t % 4 steps of a sequence in registers, then reads in[t].
void compute_for_long(const unsigned* in, unsigned* out, int n);

}  // namespace DEVICE::test_kernels
