/// \file
/// Kernels in the style of those that others publish for nvcc, with `launch` for <<<>>> and `dynamic_shared`
/// for extern __shared__ and otherwise as a reader would find them. Each function launches one; all pointers
/// are device memory, matrices are stored row by row.
#pragma once

#include "../device_name.hpp"

namespace DEVICE::test_kernels {

// Tree reductions, in the order in which Mark Harris's "Optimizing Parallel Reduction in CUDA" improves
// them: out[b] is the sum of the elements of block b. A block is 256 threads, an element each; from
// `first_add` on two each.
void reduce_modulo(const float* in, float* out, int n);
void reduce_strided_index(const float* in, float* out, int n);
void reduce_sequential(const float* in, float* out, int n);
void reduce_first_add(const float* in, float* out, int n);
void reduce_unrolled_warp(const float* in, float* out, int n);
/// All threads add to the end, an element each: a barrier every other access.
void reduce_butterfly(const float* in, float* out, int n);

// Rows of a matrix. Kernels with one block per row have 256 threads; those with one warp per row have 8 warps
// per block.
/// (x - mean) / sqrt(variance + 1e-5) * weight[c] + bias[c].
void layer_norm_block(const float* in, const float* weight, const float* bias, float* out, int rows,
                      int columns);
void layer_norm_warp(const float* in, const float* weight, const float* bias, float* out, int rows,
                     int columns);
/// x / sqrt(mean of squares + 1e-5) * weight[c], one warp per row, in float4: columns % 4 must be 0.
void rms_norm(const float* in, const float* weight, float* out, int rows, int columns);
/// softmax with running maximum and sum, after Milakov and Gimelshein, "Online normalizer calculation for
/// softmax" (2018).
void online_softmax_warp(const float* in, float* out, int rows, int columns);
void online_softmax_block(const float* in, float* out, int rows, int columns);

// out = a * b, matrices of m x k, k x n and m x n.
/// One thread per element, straight from device memory.
void product_naive(const float* a, const float* b, float* out, int m, int n, int k);
/// Tiles of 32 x 32 in shared memory.
void product_tiled(const float* a, const float* b, float* out, int m, int n, int k);
/// Tiles of 64 x 64, 8 deep, 4 x 4 elements per thread. Shared memory is read as the source has it, word by
/// word.
void product_registers(const float* a, const float* b, float* out, int m, int n, int k);
/// The same with shared memory read in float4.
void product_registers_wide(const float* a, const float* b, float* out, int m, int n, int k);

// Loops in which the lanes of a warp execute or skip different iterations, and branches with a load each.
/// out[i] = sum over j < length with (i + j) % 4 == 0 of in[j * n + i]: all lanes skip the same number of
/// iterations, but different ones.
void guard_in_turn(const float* in, float* out, int n, int length);
/// The same where bit 0 of keep[j * n + i] is set.
void guard_by_mask(const float* in, const int* keep, float* out, int n, int length);
/// out[i] = the first j < length with in[j * n + i] > limit, or -1.
void first_above(const float* in, float limit, int* out, int n, int length);
/// out[r] = sum of values[offsets[r] .. offsets[r + 1]), one thread per row.
void ragged_row_sums(const int* offsets, const float* values, float* out, int rows);
/// out = A * x of a sparse matrix A in CSR: one thread per row, one warp per row.
void csr_thread(const int* offsets, const int* columns, const float* values, const float* x, float* out,
                int rows);
void csr_warp(const int* offsets, const int* columns, const float* values, const float* x, float* out,
              int rows);
/// out[i] = in[i] for odd i, in[i ^ 1] for even i; n is even.
void load_in_both_branches(const float* in, float* out, int n);

// Atomics. A histogram has kBins bins, which must be 0 before.
constexpr int kBins = 256;
void histogram_global(const int* in, int* bins, int n);
void histogram_shared(const int* in, int* bins, int n);
/// counts[i] += 1; with `_ticket`, out[i] = the value before.
void count_each(int* counts, int n);
void count_each_ticket(int* counts, int* out, int n);
/// One address for all: count[0] += 1, total[0] += in[i].
void count_all(int* count, int n);
void count_all_ticket(int* count, int* out, int n);
void add_all(const float* in, float* total, int n);

}  // namespace DEVICE::test_kernels
