/// \file
/// Branches in loops, whose basic blocks compilers may place in any order. One warp each, unless a comment
/// says otherwise; rows have 32 elements, and thread t takes column t.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// How `clamped_columns` brings a value into [-0.5, 0.5], or changes it as a code says.
enum class Way {
  kMinMaxF,
  kMinMax,
  kConditional,
  kIf,
  kNestedIf,
  kAbs,
  kSaturate,
  kToInt,
  kSwitch,
  kWhile,
  kMost
};

/// out[t] = sum of clamped(in[j][t]) * table[j][t] over the rows j: all lanes load both in each round.
void clamped_columns(Way way, const float* in, const int* codes, const float* table, float* out, int rows);

/// Sums what the code of each element says: an element of `a`, one of `b`, one of each, or none. Then adds
/// one of `c`, but for a code of 4; 5 ends the loop. For codes 6 and 7, functions that are not inlined load.
void coded_columns(const int* codes, const float* a, const float* b, const float* c, float* out, int rows);

/// The control flow of a causal attention, a row of n queries and keys of 8 elements for each thread: over
/// tiles of 32 keys, over the thread's rows, and three times over the tile. To out, n x 8, each tile adds its
/// keys, weighted by exp(score) for a key that is not after the row, and the greatest score that is above 0
/// times the sum of the weights.
void causal_tiles(const float* queries, const float* keys, float* out, int n);

/// Thread t walks from next[t] until it comes to a negative number. It steps to next[i] while that is odd,
/// and otherwise adds value[i].
void walk(const int* next, const float* value, float* out);

/// out[t] = the sums of the first lengths[t] elements of its column of `in`, and of the first lengths[t ^ 1],
/// without those that are negative, both in a function that is not inlined.
void sums_of_two_calls(const int* lengths, const float* in, float* out);

/// out[t] = the number of nodes of the tree below node t: node i has the children 2 i + 1 and 2 i + 2 below
/// `count`, and marks[i] is loaded once for each. A function that calls itself.
void tree_sizes(const int* marks, int* out, int count);

}  // namespace DEVICE::test_kernels
