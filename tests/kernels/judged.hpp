/// \file
/// Kernels whose results are judged: as readers write them for an exercise, out[i] = 2 * x[i] for i < n, and
/// what makes a right result wrong.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// A grid-stride loop, with that many blocks of `threads` threads.
void twice(const float* x, float* out, int n, int blocks, int threads);
/// One thread reads the first elements of so many sectors once more.
void twice_and_sectors(const float* x, float* out, int n, int sectors);
/// One block, of which a warp polls flag[0] in vain at first; it is 0 before and afterwards.
void twice_after_polling(const float* x, float* out, int n, int* flag);
/// Right for blocks of 256 threads alone; n is a multiple of 256.
void twice_by_256(const float* x, float* out, int n, int threads);

/// Sets the last column of a matrix of 16-bit numbers to 0.
void clear_last_column(void* matrix, int rows, int columns);

}  // namespace DEVICE::test_kernels
