/// \file
/// Kernels with mistakes that the CPU device does not see. Those with `seen` have a variant in which it sees
/// the mistake.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// --- Races ---

/// Two blocks. One stores data[0], passes a fence and counts; the other one counts, passes a fence and reads
/// data[0], without looking at the count. Seen: the block that reads is the first one. `count` is 0.
void order_of_atomics(int* data, int* count, int* out, bool seen);
/// One block stores data[0], passes a fence and counts; the next one counts and, as the second one to do so,
/// reads data[0] without a fence. Seen: without the first fence. `count` is 0.
void reader_without_fence(int* data, int* count, int* out, bool seen);
/// 64 threads read x[0] plainly, store it in out[t] and do an atomicCAS on x[0]. Seen: an atomicAdd.
void plain_read_before_swap(int* x, int* out, bool seen);
/// The first warp does that many __syncwarp(), then its thread 0 stores x[0]. The second warp reads x[0].
void race_after_warp_operations(int* x, int* out, int operations);
/// The same with a __syncthreads() before the store and the read.
void race_after_barrier(int* x, int* out, int operations);
/// All 1024 threads of a block store their number in x[0], then the last one stores x[1000], which is not
/// there.
void race_in_grid(int* x, int blocks);
/// Thread 0 reads x[0]. Threads 1 to `readers` (at most 126) read it as well and hand it over to thread 127,
/// by a fence and an atomic on count[0]. That thread stores x[0], which races with thread 0's read. `count`
/// is 0.
void one_reader_of_many(int* x, int* count, int* out, int readers);

// --- Addresses ---

/// 32 threads read b[t] by a pointer to the __shared__ array before or after it. Seen: by an index of that
/// array.
void leaves_shared_array(int* out, bool seen);
/// out[t] = x[columns t + columns], of `rows` threads: the first element of the next row.
void leaves_row(const int* x, int* out, int rows, int columns);
/// out[t] = a[at] of a local array of 4, by a pointer to it. Seen: by an index.
void leaves_local_array(int* out, int at, bool seen);
/// out[t] = a[3] of a local array, of which n elements are written.
void unwritten_local(int* out, int n);
/// Reads x[at]. Seen: and stores it in out[0].
void unused_load(const int* x, int* out, int at, bool seen);

/// x[t] = t, and after a barrier out[t] = x[31 - t] by __ldg(), which wants memory that the launch only
/// reads.
void ldg_of_written(int* x, int* out);

// --- Barriers ---

/// The even lanes of a warp wait at one barrier, the odd ones at another one of the same line. Seen: in two
/// lines.
void barriers_in_branches(int* out, bool seen);

// --- Loops and values ---

/// One thread waits for flag[0], which nobody sets, and counts its polls. Seen: without the count.
void counts_its_polls(int* flag, int* out, bool seen);
/// 64 threads each read x[0] by an atomic and store that plus 1 by another one. Seen: x[0] += 1.
void two_atomics_for_one(int* x, bool seen);

}  // namespace DEVICE::test_kernels
