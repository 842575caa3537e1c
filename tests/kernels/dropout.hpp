/// \file
/// The random numbers of chapter 07, and backward passes that get them wrong.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// Four counters, two words of key, and ten rounds or seven.
struct PhiloxInput {
  unsigned counter[4], key[2];
  int rounds;
};

/// out[4 i] to out[4 i + 3] = philox() of in[i], on the device or on the host.
void philox_numbers(const PhiloxInput* in, unsigned* out, int n);
void philox_numbers_on_host(const PhiloxInput* in, unsigned* out, int n);

/// Which elements share a call: in a kernel for four, eight or sixteen floats, or for eight bfloat16, also
/// with seven rounds.
enum class Shared { kFour, kEight, kSixteen, kHalves, kSevenRounds };

/// kept[i] = 1 where dropout keeps element i, else 0.
void draw_kept(signed char* kept, int n, Shared shared, double p, unsigned long long seed,
               unsigned long long offset);

/// Floats of a table.
constexpr int kTableFactors = 2305;

/// The factors of 06_table, with a scale of 1, for each bfloat16 as the lower and as the upper half of a
/// word, whose other half is `neighbour`: 2 * 65,536 of them. `factors` is scratch memory, kTableFactors
/// floats.
void table_factors(float* factors, float* out, unsigned neighbour);

/// Mistakes of a backward pass with the numbers of the forward pass.
enum class DropoutMistake { kNone, kNextOffset, kOtherVectors, kSeedByBlock, kLaneZero };

/// dx = dy * the derivative of dropout(gelu(x)), with a mistake.
void backward(const float* x, const float* dy, float* dx, int n, double p, unsigned long long seed,
              unsigned long long offset, DropoutMistake mistake);

}  // namespace DEVICE::test_kernels
