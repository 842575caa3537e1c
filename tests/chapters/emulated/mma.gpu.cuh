/// \file
/// Stands in for common/kernels/mma.gpu.cuh where stages that need its instructions are tested on the CPU
/// device: the same functions, from shuffles. An address in shared memory is an offset in the dynamic part.
#pragma once
#include "device.hpp"

namespace DEVICE {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ inline unsigned char* at_shared_address(unsigned offset) {
  return dynamic_shared<unsigned char>() + offset;
}
__device__ inline unsigned shared_address(const void* of) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(of) - dynamic_shared<unsigned char>());
}

__device__ inline void cp_async_commit() { __pipeline_commit(); }
template <int Pending>
__device__ void cp_async_wait_group() {
  __pipeline_wait_prior(Pending);
}
__device__ inline void cp_async_wait_all() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
__device__ inline void cp_async_16(unsigned to, const void* from, int bytes) {
  if (bytes > 0)
    __pipeline_memcpy_async(at_shared_address(to), from, 16, 16 - bytes);
  else
    *reinterpret_cast<uint4*>(at_shared_address(to)) = uint4{};
}

/// Stronger than the instruction: the other warps of the block must come as often.
__device__ inline void named_barrier(int, int) { __syncthreads(); }

__device__ inline void ldmatrix_x4(unsigned (&matrices)[4], unsigned row) {
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    const unsigned of_row = __shfl_sync(kAllLanes, row, 8 * m + lane / 4);
    matrices[m] = *reinterpret_cast<const unsigned*>(at_shared_address(of_row + lane % 4 * 4));
  }
}
__device__ inline void ldmatrix_x4_trans(unsigned (&matrices)[4], unsigned row) {
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    const unsigned first = __shfl_sync(kAllLanes, row, 8 * m + lane % 4 * 2);
    const unsigned second = __shfl_sync(kAllLanes, row, 8 * m + lane % 4 * 2 + 1);
    const unsigned low = *reinterpret_cast<const unsigned short*>(at_shared_address(first + lane / 4 * 2));
    const unsigned high = *reinterpret_cast<const unsigned short*>(at_shared_address(second + lane / 4 * 2));
    matrices[m] = low | high << 16;
  }
}

/// Adds the products of two pairs of bfloat16.
__device__ inline float add_products(float acc, unsigned a, unsigned b) {
  acc += __uint_as_float(a << 16) * __uint_as_float(b << 16);
  return acc + __uint_as_float(a & 0xffff0000u) * __uint_as_float(b & 0xffff0000u);
}

__device__ inline void mma_m16n8k16(float (&acc)[4], const unsigned (&x)[4], unsigned w0, unsigned w1) {
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < 8; k += 2) {
    const int of_row = lane / 4 * 4 + k / 2, of_column = lane % 4 * 2 * 4 + k / 2;
    for (int half = 0; half < 2; ++half) {
      const unsigned upper = __shfl_sync(kAllLanes, x[2 * half], of_row);
      const unsigned lower = __shfl_sync(kAllLanes, x[2 * half + 1], of_row);
      const unsigned left = __shfl_sync(kAllLanes, half == 0 ? w0 : w1, of_column);
      const unsigned right = __shfl_sync(kAllLanes, half == 0 ? w0 : w1, of_column + 4);
      acc[0] = add_products(acc[0], upper, left);
      acc[1] = add_products(acc[1], upper, right);
      acc[2] = add_products(acc[2], lower, left);
      acc[3] = add_products(acc[3], lower, right);
    }
  }
}

}  // namespace DEVICE
