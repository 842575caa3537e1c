/// \file
/// For kernels and for host code: Philox 4x32, random numbers without a state. A call turns a counter into
/// four numbers of 32 bits, so every thread computes its own wherever it runs, and the same ones again
/// whenever it likes. Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1,
/// 2, 3, SC 2011; the constants are theirs.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// a * b as 64 bits, in one instruction. From `1ull * a * b`, nvcc 13.0 keeps what follows in 64 bits as
/// well, and adds 0 to the upper half of almost every product.
__host__ __device__ inline unsigned long long wide_product(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
  unsigned long long product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return 1ull * a * b;
#endif
}

// [philox]
/// Four random numbers from a counter and a key: ten rounds of two multiplications of 32 bits. The upper half
/// of each product is mixed with another word and the key, the lower half becomes a word as it is.
template <int Rounds = 10>
__host__ __device__ inline uint4 philox(uint4 counter, uint2 key) {
  unsigned x = counter.x, y = counter.y, z = counter.z, w = counter.w, key_x = key.x, key_y = key.y;
  for (int round = 0; round < Rounds; ++round) {
    const unsigned long long a = wide_product(0xD2511F53, x), b = wide_product(0xCD9E8D57, z);
    x = static_cast<unsigned>(b >> 32) ^ y ^ key_x;
    y = static_cast<unsigned>(b);
    z = static_cast<unsigned>(a >> 32) ^ w ^ key_y;
    w = static_cast<unsigned>(a);
    key_x += 0x9E3779B9u;
    key_y += 0xBB67AE85u;
  }
  return {x, y, z, w};
}
// [philox]

// [random]
/// The random numbers of one launch: a seed for the whole program, and an offset that no two forward passes
/// share. A backward pass has that of its forward pass.
struct Random {
  unsigned long long seed, offset;

  /// The four numbers of a call: those of cuRAND after curand_init(seed, call, 4 * offset).
  __host__ __device__ uint4 operator()(unsigned call) const { return after_rounds<10>(call); }

  template <int Rounds>
  __host__ __device__ uint4 after_rounds(unsigned call) const {
    return philox<Rounds>({static_cast<unsigned>(offset), static_cast<unsigned>(offset >> 32), call, 0},
                          {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)});
  }
};
// [random]

// [number]
/// Number j of a call that is cut into numbers of Bits bits: 24 (the upper ones of four words), 16 (eight
/// halves of words) or 8 (sixteen bytes).
template <int Bits>
__host__ __device__ inline unsigned number(uint4 call, int j) {
  constexpr int kInWord = 32 / Bits;
  const int w = j / kInWord;
  const unsigned word = w == 0 ? call.x : w == 1 ? call.y : w == 2 ? call.z : call.w;
  if (Bits == 24) return word >> 8;
  return (word >> (Bits * (j % kInWord))) & ((1u << Bits) - 1);
}
// [number]

}  // namespace DEVICE
