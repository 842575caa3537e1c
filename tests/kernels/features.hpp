/// \file
/// Kernels that use the language around the arithmetic: 16-bit vectors, atomics, cache hints, tables,
/// templates, lambdas, printf.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// out = 2 * in + 1 in half precision: 8 halfs a thread through one uint4; n halfs, a multiple of 256.
void half_vectors(const unsigned short* in, unsigned short* out, int n);
/// Copies n 16-bit words through __half, __half2, __nv_bfloat16 or __nv_bfloat162 (kind 0 to 3).
void copy_halfs(const unsigned short* in, unsigned short* out, int n, int kind);
/// Transposes one 32 x 32 tile of __half through shared memory.
void transpose_halfs(const unsigned short* in, unsigned short* out);
/// out[5t ...]: the bits of lanes t ^ 1, t - 1, t + 1 and 5 as __half2, and of lane 5 as __half; lane t holds
/// t and -t.
void half_shuffles(unsigned* out);

/// values[0..9]: targets of the atomics; old[0..9]: what they returned. One thread.
void atomics_in_turn(unsigned* values, unsigned* old);
/// exch: the old values that 64 threads get from atomicExch on one float, each putting its number.
void float_exchange(float* value, float* exch);
/// Adds 1 ... 256 to sum[0], each by atomicCAS on 64 bits until nobody came between.
void cas_sum(unsigned long long* sum);

/// out[t] = in[t] through each load hint and store hint in turn; 7 x 32 floats.
void cache_hints(const float* in, float* out);

/// out[t]: sums of a constexpr table, a __constant__ table, and a function that stays out of line.
void tables(float* out);
/// out[i] = scale * in[i] + 1, by a lambda that is passed to the kernel; 64 elements.
void with_lambda(const float* in, float* out, float scale);
/// out[t] = in[63 - t]: through static shared memory whose size is a template parameter, and through dynamic.
void reversed(const int* in, int* out, bool dynamic);
/// out[t]: the sum of 4 elements, loop unrolled, one block of bounded size.
void unrolled_sums(const float* in, float* out);
/// Thread 3 prints "thread 3 has 1.50" where in[3] is 1.5.
void prints(const float* in);
/// Each thread prints a line; a multiple of 256 of them, at least `threads`.
void all_print(int threads);

/// out[t] = in[t], each of which must be below `limit`; 32 threads. They check it by assert as a file has it
/// that includes nothing for it, <cassert> or <assert.h>, by assert outside the device's namespace, or by
/// __trap().
enum class CheckedBy { kAssert, kCassert, kAssertH, kElsewhere, kTrap };
void copy_below(const int* in, int* out, int limit, CheckedBy by);
/// The same by __trap() where `traps`, else by assert.
void copy_below_or_fail(const int* in, int* out, int limit, bool traps);

/// Runs number `feature` of the kernels above whose results do not depend on the order of threads, on arrays
/// of kFeatureWords words each. Other values of `feature` than [0, kFeatures) do nothing.
constexpr int kFeatures = 11, kFeatureWords = 1024;
void run_feature(int feature, void* in, void* out);

}  // namespace DEVICE::test_kernels
