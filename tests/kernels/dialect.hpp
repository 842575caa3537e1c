/// \file
/// Kernels that use what the dialect offers beyond arithmetic, and kernels with the mistakes that go with it.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// One warp. out[4 * t + j] = what thread t gets from __shfl_sync(.., t + n), _up, _down and _xor(.., n), of
/// lane numbers.
void shuffles(int* out, int n, int width);
/// Bits of a double and of an unsigned long long survive a shuffle.
void wide_shuffles(double* out);
/// 64 threads; predicate t % 3 == 0. out: ballot, any, all of the own warp, then __syncthreads_count, _and,
/// _or.
void votes(unsigned* out);
/// Lanes below 20 call __activemask() inside an if; the others get 0.
void active_lanes(unsigned* out);
/// Each half of the warp adds up its lanes' numbers by itself.
void half_warps(int* out);

/// n threads. Each adds 1 to out[t % bins] and keeps min and max of t in out[bins], out[bins + 1].
void atomics(int* out, int n, int bins);
/// atomicAdd to one address of its own for each thread.
void distinct_atomics(float* out, int n);
/// Histogram in shared memory, added to out at the end; 256 threads per block.
void histogram(const int* in, int* out, int n);
/// Sum by blocks; the last block to finish adds up the partial sums. count[0] is 0 before and after.
void last_block_sum(const float* in, float* partial, float* sum, unsigned* count, int n);
/// Sum of a warp by shuffles, of 8 warps through shared memory.
void shuffle_sum(const float* in, float* out, int n);

/// Copies through float2, float3, float4, char4 and double2; out must equal in.
void copy_vectors(const float* in, float* out, int n, int kind);
/// out: __float2int_rn and _rz of in.
void conversions(const float* in, int* out, int n);
/// Stores 1 and 2 in x[t] and reads that twice, all by a volatile pointer: out[t] = 4, of 32 threads.
void volatile_accesses(int* x, int* out);
/// memcpy of 256 bytes by each thread.
void copy_blocks(const float* in, float* out, int threads);

// Mistakes; each is right when `mended`.
/// The mean of a row is read from shared[0] while the next reduction overwrites it.
void normalise_rows(const float* in, float* out, int rows, bool mended);
/// A tree whose last 32 threads do without a barrier; `mended`: with __syncwarp.
void warp_tail_sum(const float* in, float* out, bool mended);
/// out[i] = in[i] for i < n; the mistake is an n larger than the number of elements that were written.
void read_unwritten(const float* in, float* out, int n);
/// x[i] += x[i - 1] in place; `mended`: from another array. One block of 256 threads.
void shift_in_place(float* x, float* y, bool mended);
/// Every block writes out[0]; `mended`: its own element. 4 blocks.
void one_sum_for_all(float* out, bool mended);
/// last_block_sum without the atomic: the last block by number adds up.
void last_block_by_number(const float* in, float* partial, float* sum);
/// Waits for a flag that nothing sets; `mended`: that is set.
void wait_for_flag(int* flag, bool mended);
/// Neighbouring bytes are written by different threads: no race either way; broken: two threads write one
/// byte.
void bytes_side_by_side(signed char* out, bool mended);
/// Thread 0 writes bytes of one word in turn; after each byte, a barrier or __syncwarp follows, and then the
/// others read it. Correct.
void bytes_in_turn(signed char* bytes, signed char* out);
/// Half a warp waits at one barrier, the other threads of the block at another.
void two_barriers(float* out, bool mended);
/// A full mask in a branch that 16 lanes take.
void missing_lane(int* out, bool mended);
/// The mask does not hold the caller.
void foreign_mask(int* out, bool mended);
/// A lane reads from one outside the mask.
void absent_source(int* out, bool mended);
/// NVIDIA's idiom for n < 32 elements: a ballot names the lanes that take part, and out[0] is the sum of
/// theirs. With `used`, also what the shuffles return of other lanes is added.
void sum_of_some(const float* in, float* out, int n, bool used);
/// The same for the largest or the least element, with what other lanes return.
void most_of_some(const float* in, float* out, int n, bool least);
/// out[t] = the sum of the four elements of a float4, for 32 threads: member by member from memory (0),
/// through a reference (1), from a copy (2).
void sums_of_four(const float* in, float* out, int how);
/// Shared arrays that are aligned to 16 bytes in three spellings. out[t] = 4 t + 4 t + 1 + 4 t + 3, for t
/// < 8.
void aligned_arrays(float* out);
/// Dynamic shared memory of half the size.
void small_dynamic_shared(float* out, bool mended);
/// A store to an ordinary global variable of the program.
void host_global(float* out, bool mended);

}  // namespace DEVICE::test_kernels
