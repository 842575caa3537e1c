/// \file
/// For kernels and for host code: dropout (N. Srivastava and others, Dropout: a simple way to prevent neural
/// networks from overfitting, 2014), and which random number each element gets.
#pragma once
#include "philox.hpp"

namespace DEVICE {

// [dropout]
/// Drops values with the probability threshold / 2^bits of its numbers, and divides the others by the
/// probability that they stay, so that the mean is kept. A dropped value is multiplied by 0, as PyTorch does
/// it: an infinite one becomes NaN. We multiply by 0 instead of choosing 0: the compiler could turn a choice
/// into a branch around the whole computation.
struct Dropout {
  Random random;
  unsigned threshold;
  float scale;

  __host__ __device__ bool drops(unsigned number) const { return number < threshold; }
  /// The factor that a value is multiplied by.
  __device__ float factor(unsigned number) const { return drops(number) ? 0.0f : scale; }
  __device__ float operator()(float value, unsigned number) const { return value * factor(number); }
};
// [dropout]

/// For numbers of Bits bits. p, from 0 to 1, is rounded to a multiple of 2^-Bits; where all is dropped, the
/// scale does not matter.
template <int Bits>
Dropout make_dropout(double p, unsigned long long seed, unsigned long long offset) {
  constexpr double kNumbers = 1u << Bits;
  const unsigned threshold = static_cast<unsigned>(p * kNumbers + 0.5);
  const double stays = 1 - threshold / kNumbers;
  return {{seed, offset}, threshold, stays > 0 ? static_cast<float>(1 / stays) : 0.0f};
}

// [sharing]
/// How the numbers of one call are shared out: a lane has `kVectors` vectors of 16 bytes. The first vectors
/// of all lanes of a warp stand side by side, then the second ones, so a lane's vectors are 32 vectors apart.
/// The call is one of Philox with `Rounds` rounds.
template <class T, int Vectors, int Rounds = 10>
struct Sharing {
  static constexpr int kWidth = 16 / sizeof(T), kVectors = Vectors, kNumbers = kWidth * kVectors;
  static constexpr int kBits = kNumbers == 4 ? 24 : 128 / kNumbers, kRounds = Rounds;

  /// The call and the number in it that element i gets, whoever computes it.
  struct Place {
    unsigned call;
    int number;
  };
  __host__ __device__ static Place place(unsigned i) {
    const unsigned vector = i / kWidth;
    return {vector / (32 * kVectors) * 32 + vector % 32,
            static_cast<int>(vector / 32 % kVectors * kWidth + i % kWidth)};
  }

  /// The other way round: the first vector of the thread that makes call t.
  __host__ __device__ static unsigned first_vector(unsigned t) { return t / 32 * 32 * kVectors + t % 32; }
};
// [sharing]

}  // namespace DEVICE
