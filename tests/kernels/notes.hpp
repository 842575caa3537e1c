/// \file
/// Kernels that work but are fragile, each with a correct twin, and kernels with mistakes after which a
/// launch can go on.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// --- Barriers ---

/// out[64 b + t] = 63 - t, negative in the second warp; 4 blocks of 64. The two warps come to barriers in two
/// lines.
void barrier_by_warp(int* out, bool mended);
/// out[t]: of the 64 threads, those with an even t; 100 is added in the second warp, which votes in another
/// line.
void vote_by_warp(int* out, bool mended);
/// One warp comes to a barrier, the other one to a vote.
void barrier_or_vote(int* out, bool mended);
/// The first warp passes two barriers, the second one a barrier in another line.
void unequal_barriers(int* out, bool mended);
/// out[t] = 31 - t for t < 32, through shared memory, with a barrier inside `if (t < 32)`; blocks of 128.
void barrier_in_if(int* out, bool mended);
/// out[b]: the sum of block b's up to 64 of n elements, in two lines with a barrier each. Threads beyond n
/// return before them.
void ragged_sums(const int* in, int* out, int n, bool mended);
/// out[t] = 63 - t; the lanes of each warp come to barriers in two lines.
void barrier_by_half_warp(int* out, bool mended);

// --- Orders and values ---

/// out[t] = 31 - t, through shared memory, with a shuffle between the stores and the loads; `mended`: and a
/// __syncwarp().
void ordered_by_shuffle(int* out, bool mended);
/// out[t] = 1: a flag in shared memory that every other of 64 threads sets to 1; `mended`: that thread 0
/// sets.
void flag_set_by_many(int* out, bool mended);

// --- Mistakes ---

/// out[t] = in[t], plus an element that nothing has written; `mended`: plus in[t].
void add_unwritten(const int* in, const int* unwritten, int* out, bool mended);
/// The same in shared memory.
void add_unwritten_shared(const int* in, int* out, bool mended);
/// out[t] = in[t] by an asynchronous copy that is not waited for.
void unwaited_copy(const int* in, int* out, bool mended);
/// out[2t], out[2t + 1] = in[2t + 1], in[2t + 2] in one 8-byte load; `mended`: in[2t], in[2t + 1]. 32
/// threads.
void misaligned_pairs(const int* in, int* out, bool mended);
/// out[t] = in[t], and thread 0 reads in[n].
void past_the_end_by_one(const int* in, int* out, int n, bool mended);

}  // namespace DEVICE::test_kernels
