/// \file
/// Kernels whose loads and stores an optimiser would like to merge, to copy or to leave out. The CPU device
/// must see them as the source has them, whichever compiler has built it.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

// Each of these runs one warp. Thread t of the loops works on `length` elements from t * length on.

/// out[i] = in[i], by a loop over floats; the arrays do not overlap.
void copy_loop(const float* in, float* out, int length);
/// out[i] = 0, by a loop over floats.
void clear_loop(float* out, int length);
/// The same for int elements, whose bytes all become 0xff.
void fill_loop(int* out, int length);
/// x[i] = x[i + 1], by a loop over floats; one thread.
void shift_loop(float* x, int length);
/// x[0..3] = 0 by assignments that stand side by side.
void clear_four(float* x);
/// out[t] = in[t] for structures of 64 bytes, aligned to 16.
void copy_structs(const void* in, void* out);
/// The same with std::memcpy, and out[t] = {} afterwards with std::memset.
void copy_and_clear_structs(const void* in, void* out);
/// out[t] = in[t] for structures of two ints, aligned to 4.
void copy_pairs(const void* in, void* out);
/// out[t] = the four bytes from in[4 * t] on as one number, the lowest first; each byte is loaded by itself.
void join_bytes(const unsigned char* in, unsigned* out);
/// Odd threads add up in[t] and in[t + 32], even ones have in[t] alone: in[t] is one load between two
/// branches.
void load_between_branches(const float* in, float* out);
/// Odd threads store 1 to out[t] and even ones 2: two stores.
void store_in_both_branches(float* out);

/// c = a * b, of `size` rows and columns (a multiple of 32): blocks of 32x32, one warp, each thread 8x4
/// elements in registers, tiles of 8 in shared memory.
void register_tiles(const float* a, const float* b, float* c, int size);

// Mistakes; each is right when `mended`.
/// copy_loop to one element past the end of out.
void copy_too_much(const float* in, float* out, int length, bool mended);
/// copy_structs with 33 threads.
void copy_struct_too_many(const void* in, void* out, bool mended);
/// out[t] = in[t] of even threads, in[t ^ 1] of odd ones: two loads, which clang merges. 64 threads;
/// `mended`: 32.
void load_in_both_branches(const float* in, float* out, bool mended);
/// Each half of the warp waits at a barrier of its own, and stores the same next to it.
void barrier_in_both_branches(float* out, bool mended);

}  // namespace DEVICE::test_kernels
