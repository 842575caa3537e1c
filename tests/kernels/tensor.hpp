/// \file
/// Kernels with asynchronous copies and tensor-core fragments. All pointers are device memory.
#pragma once

#include "device_name.hpp"
#include "tensor_cases.hpp"

namespace DEVICE::test_kernels {

TensorCases tensor_cases();

/// out = gelu(a * b + bias), tanh form: a 16 x 32 and b 32 x 16 of bfloat16, by rows and by columns; bias 16
/// floats, one a column.
void bias_gelu(const void* a, const void* b, const float* bias, float* out);

/// c = a * b of float32, 32 x k times k x 32, k a multiple of 16, through two tiles of each in shared memory
/// of which one is filled while the other is used.
void pipelined_product(const float* a, const float* b, float* c, int k, PipelineMistake mistake);

/// Thread t of 32 copies `bytes` bytes through shared memory, t modulo (bytes + 1) of them zeros.
void filled_copies(const void* in, void* out, int bytes);
/// 32 threads copy 16 bytes each through shared memory.
void copies(const float* in, float* out, CopyMistake mistake);

/// Each of 64 threads adds up its neighbours' elements: the next one's from a shared array that they have
/// written, the last one's (thread 0: its own) after they have copied to it again.
void neighbours(const float* in, float* out, CopyMistake mistake);

/// out = a * b of one warp, 16x16x16 of half, through shared memory.
void shared_product(const void* a, const void* b, float* out, FragmentMistake mistake);

}  // namespace DEVICE::test_kernels
