/// \file
/// Stage 6 in bfloat16, by a table: of a number of 16 bits, a function has at most 65,536 values. Each block
/// computes those that it needs once, keeps them in shared memory, and looks them up.
#pragma once
#include "6_half.cuh"

namespace DEVICE::gelu_dropout {

constexpr int kTableThreads = 512;

/// Values of a function that hardly changes below 2^-20 and beyond 16: one for each bfloat16 between them,
/// first of the positive, then of the negative ones. A number outside has the value of the nearest one.
struct Table {
  static constexpr unsigned kFirst = 0x3580, kLast = 0x4180;  // the bits of 2^-20 and of 16
  static constexpr unsigned kSizes = kLast - kFirst + 1;
  float value[2 * kSizes];

  /// scale * Form::factor(x) for each x, by all threads of a block.
  template <class Form>
  __device__ void fill(float scale) {
    for (unsigned i = threadIdx.x; i < 2 * kSizes; i += blockDim.x) {
      const unsigned bits = i < kSizes ? kFirst + i : 0x8000 + kFirst + i - kSizes;
      value[i] = scale * Form::factor(__uint_as_float(bits << 16));
    }
    __syncthreads();
  }

  // [lookup]
  /// The values of two numbers, which are the lower and the upper half of a word.
  __device__ float2 of(unsigned pair) const {
    const unsigned sizes = __vminu2(__vmaxu2(pair & 0x7fff7fff, 0x10001 * kFirst), 0x10001 * kLast);
    const unsigned negative = pair >> 15 & 0x10001;  // a 1 in each half
    const unsigned places = sizes + negative * kSizes;
    return {value[(places & 0xffff) - kFirst], value[(places >> 16) - kFirst]};
  }
  // [lookup]
};

/// gelu(x) is x times this, the normal distribution.
struct Distribution {
  __device__ static float factor(float x) { return normcdff(x); }
};

/// The two elements of `pair` times their factors, or times 0 where a half of `drawn` says so. With p = 1 all
/// factors are 0.
__device__ inline unsigned multiply_or_drop(unsigned pair, float2 factor, unsigned drawn,
                                            unsigned threshold) {
  const float low = drawn << 16 < threshold << 16 ? 0.0f : factor.x;
  const float high = drawn < threshold << 16 ? 0.0f : factor.y;
  const __nv_bfloat162 product =
      __floats2bfloat162_rn(__uint_as_float(pair << 16) * low, __uint_as_float(pair & 0xffff0000) * high);
  return *reinterpret_cast<const unsigned*>(&product);
}

/// y[i] = dropout(gelu(x[i])) in bfloat16. There are only as many blocks as a GPU runs at once, so that few
/// tables are computed, and each thread goes on with other vectors. Traffic: that of sixteen_bit_type.
__global__ void __launch_bounds__(kTableThreads)
    by_table(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, unsigned n,
             Dropout dropout) {
  __shared__ Table table;
  table.fill<Distribution>(dropout.scale);
  const bool aligned = are_aligned(x, y);
  for (unsigned v = blockIdx.x * kTableThreads + threadIdx.x; 8 * v < n; v += gridDim.x * kTableThreads) {
    Vector<__nv_bfloat16> eight = load(x, v, n, aligned);
    const uint4 call = dropout.random(v), pairs = eight.bits();
    const auto result = [&](unsigned pair, unsigned drawn) {
      return multiply_or_drop(pair, table.of(pair), drawn, dropout.threshold);
    };
    eight.bits() = {result(pairs.x, call.x), result(pairs.y, call.y), result(pairs.z, call.z),
                    result(pairs.w, call.w)};
    store(y, v, n, aligned, eight);
  }
}

// --- On the host ---

/// As many as the multiprocessors run at once, with 2048 threads each, or as there is work for.
inline int table_blocks(int n) {
  return min(ceil_div(n, 8 * kTableThreads), 2048 / kTableThreads * multiprocessors());
}

struct ByTable {
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(by_table, table_blocks(n), kTableThreads, bfloat16s(d, "x_bfloat16"), bfloat16s(d, "y_bfloat16"),
           static_cast<unsigned>(n), dropout_of<16>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

}  // namespace DEVICE::gelu_dropout
