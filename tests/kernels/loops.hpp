/// \file
/// Loops that the lanes of a warp go through differently, and mistakes that no single access shows.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// One warp. In round r thread t adds up the first lengths[32 * r + t] of its column of `table`, leaving out
/// rows j with skip[32 * j + t] != 0, and stores the sum in out[32 * r + t]. Rows have 32 elements.
void ragged_columns(const int* lengths, const int* skip, const int* table, int* out, int rounds);

/// One warp. Thread t looks through its column of `table` for the first element that is `wanted`; out[t] is
/// its row, or -1.
void search_columns(const int* table, int wanted, int* out, int rows);

/// One warp. Each thread adds up n elements, a stride of 32 apart, in a function that is not inlined.
void sums_out_of_line(const float* in, float* out, int n);

// Mistakes; each is right when `mended`.
/// An element past the end of a __shared__ array, where another begins.
void into_the_next_array(float* out, bool mended);
/// 52 KiB of __shared__ arrays; `mended`: 40.
void large_shared_arrays(float* out, bool mended);
/// Waits for a sequence to reach 1 that never does.
void never_one(unsigned* out, bool mended);
/// A local array of 1 MiB.
void large_local_array(const int* index, float* out, bool mended);
/// out[t] = the length of the chain t, next[t], ... that ends in a negative number, by recursion.
void measure_chain(const int* next, float* out);
/// Host code that writes into an array on the device; `mended`: a kernel does.
void host_writes(float* out, bool mended);

}  // namespace DEVICE::test_kernels
