/// \file
/// For kernels: asynchronous copies and tensor cores in PTX, each instruction once. NVIDIA's PTX ISA
/// describes them under "cp.async", "ldmatrix" and "Matrix Fragments for mma.m16n8k16". Compute
/// capability 8.0.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// The address of something in shared memory, as PTX instructions take it.
__device__ inline unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

/// Closes the group of copies that this thread has started since the last call.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Returns when all groups of this thread's copies but the last `Pending` are complete.
template <int Pending>
__device__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Returns when all copies of this thread are complete, in groups or not.
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Waits for `threads` threads of the block, whole warps, to call it with the same `barrier`, 1 to 15:
/// __syncthreads() is barrier 0 for all of them.
__device__ inline void named_barrier(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// [instructions]
/// Starts the copy of 16 bytes from global to shared memory. Only the first `bytes` of them are read; the
/// others are filled with zeros.
__device__ inline void cp_async_16(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

/// Loads four 8x8 matrices of 16-bit elements from shared memory. Lane l passes the address of row l % 8 of
/// matrix l / 8. In return, it gets two elements of each matrix: row l / 4, columns l % 4 * 2 and the next.
__device__ inline void ldmatrix_x4(unsigned (&matrices)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row)
               : "memory");
}

/// acc += x * w^T for fragments of 16x16 elements of x and 8x16 of w, in bfloat16. In each lane, acc[0] and
/// acc[1] belong to row lane / 4 and to columns lane % 4 * 2 and the next; acc[2] and acc[3] are eight rows
/// below.
__device__ inline void mma_m16n8k16(float (&acc)[4], const unsigned (&x)[4], unsigned w0, unsigned w1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w0), "r"(w1));
}
// [instructions]

/// cp_async_16() for 4 bytes: a matrix that is copied element by element can be transposed on its way.
__device__ inline void cp_async_4(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

/// As ldmatrix_x4(), each matrix transposed: a lane gets rows l % 4 * 2 and the next of column l / 4.
__device__ inline void ldmatrix_x4_trans(unsigned (&matrices)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row)
               : "memory");
}

/// Rounds a warp's accumulators of mma_m16n8k16(), four in each lane, to bfloat16 and stores them as the 16x8
/// elements at (row, column) of an m x n matrix, two columns at a time: n must be even. Elements outside the
/// matrix are not stored.
__device__ inline void store_accumulator(const float* acc, __nv_bfloat16* matrix, int row, int column, int m,
                                         int n) {
  const int lane = threadIdx.x % 32;
  row += lane / 4;
  column += lane % 4 * 2;
  __nv_bfloat16* to = matrix + static_cast<size_t>(row) * n + column;
  if (column >= n) return;
  if (row < m) *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(acc[0], acc[1]);
  if (row + 8 < m)
    *reinterpret_cast<__nv_bfloat162*>(to + static_cast<size_t>(8) * n) =
        __floats2bfloat162_rn(acc[2], acc[3]);
}

}  // namespace DEVICE
