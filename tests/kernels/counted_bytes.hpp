/// \file
/// Kernels whose efficiency is known, and kernels whose loads from shared memory nvcc may merge or may not.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// One warp loads from global memory, lane i by way `which`: 0 word 0; 1 vector 0 of 4 words; 2 word i / 4;
/// 3 word i and word i + 1 and word i + 2 (a stencil of three loads); 4 word i ^ 1; 5 word 31 - i / 2;
/// 6 word 0, lane 0 alone. Each stores one word.
constexpr int kLoadWays = 7;
void load_words(int which, const float* in, float* out);
/// One warp stores: way 0, word i; 1, half-word i of a word per lane pair; 2, word 2 * i.
void store_words(int which, float* out);
/// One warp copies to shared memory asynchronously, `bytes` (4, 8 or 16) per lane, from vector i /
/// lanes_each. In 16-byte copies the last `zeros` bytes are zeros.
void copy_words(int bytes, int lanes_each, int zeros, const float* in, float* out);

/// Sums of 64 words in shared memory, one block of 64 threads.
/// May merge: 0, every thread over words 0 to 63 in a loop; 1, thread t over words 4 * t % 64 to + 3, by four
/// loads in one line; 2, over vectors of two words; 3, rows of 36 words, a row per lane.
/// May not: 4, from word 1 on; 5, from word t on; 6, every second word; 7, rows of 33 words; 8, volatile;
/// 9, by vectors of four words; 10, in a tree whose last step adds the neighbour; 11, by one word between
/// barriers.
constexpr int kSharedWays = 12, kMergingWays = 4;
void sum_shared(int which, float* out);

/// Launches scaled<2>, scaled<3> and scaled<3, short vectors>: out[i] = factor * in[i], 64 elements.
void scaled_by_templates(const float* in, float* out);
/// One block of 64 threads: adds to sum[0] (contended) or to sum[t].
void add_atomically(bool contended, unsigned* sum);
/// One block of 64 threads counts in shared memory.
void count_in_shared(unsigned* out);

}  // namespace DEVICE::test_kernels
