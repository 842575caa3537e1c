/// \file
/// Stage 6 in bfloat16, by a table: of a number of 16 bits, a function has at most 65,536 values. A kernel
/// computes those that are needed, and each block of the next one copies them to shared memory and looks them
/// up.
#pragma once
#include "06_half.cuh"

namespace DEVICE::gelu_dropout {

constexpr int kTableThreads = 512;

/// The factors of negative numbers: one for each bfloat16 from -2^-14 to -16. Beyond them a factor hardly
/// changes, so a number outside has that of the nearest one. The factors at x and at -x add up to `scale`.
struct Table {
  float value[kFactors];

  /// Copies the factors from global memory, by all kTableThreads threads of a block.
  __device__ void copy(const float* __restrict__ factors) {
#pragma unroll
    for (unsigned i = threadIdx.x; i < kFactors; i += kTableThreads) value[i] = factors[i];
    __syncthreads();
  }

  // [lookup]
  /// The factors of two numbers, which are the lower and the upper half of a word.
  __device__ float2 of(unsigned pair, float scale) const {
    const unsigned sizes = __vminu2(__vmaxu2(pair & 0x7fff7fff, 0x10001 * kSmallest), 0x10001 * kLargest);
    const float low = value[(sizes & 0xffff) - kSmallest], high = value[(sizes >> 16) - kSmallest];
    // With the lower half, an infinity in the upper one would be a NaN, which has no sign.
    const float first = __uint_as_float(pair << 16), second = __uint_as_float(pair & 0xffff0000);
    return {first < 0 ? low : scale - low, second < 0 ? high : scale - high};
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

/// The same for eight elements, times the factors of the eight in `x`.
__device__ inline uint4 multiply_or_drop(uint4 pairs, uint4 x, const Table& table, uint4 call,
                                         const Dropout& dropout) {
  const auto result = [&](unsigned pair, unsigned x_pair, unsigned drawn) {
    return multiply_or_drop(pair, table.of(x_pair, dropout.scale), drawn, dropout.threshold);
  };
  return {result(pairs.x, x.x, call.x), result(pairs.y, x.y, call.y), result(pairs.z, x.z, call.z),
          result(pairs.w, x.w, call.w)};
}

/// factors[i] = scale * Form::factor(the i-th number of a Table), one thread per factor. Traffic: writes
/// 4 bytes per factor.
template <class Form>
__global__ void compute_table(float* __restrict__ factors, float scale) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kFactors) factors[i] = scale * Form::factor(-__uint_as_float((kSmallest + i) << 16));
}

/// y[i] = dropout(gelu(x[i])) in bfloat16. A block copies the table once, and each of its threads goes on
/// with other vectors. The random numbers are those of Philox with so many rounds. Traffic: that of
/// sixteen_bit_type, and the table for each block, from a cache.
template <int Rounds>
__global__ void __launch_bounds__(kTableThreads)
    by_table(const __nv_bfloat16* __restrict__ x, const float* __restrict__ factors,
             __nv_bfloat16* __restrict__ y, unsigned n, Dropout dropout) {
  __shared__ Table table;
  table.copy(factors);
  const bool aligned = are_aligned(x, y);
  for (unsigned v = blockIdx.x * kTableThreads + threadIdx.x; 8 * v < n; v += gridDim.x * kTableThreads) {
    Vector<__nv_bfloat16> eight = load(x, v, n, aligned);
    const uint4 call = dropout.random.after_rounds<Rounds>(v);
    eight.bits() = multiply_or_drop(eight.bits(), eight.bits(), table, call, dropout);
    store(y, v, n, aligned, eight);
  }
}

// --- On the host ---

/// Blocks that start when others end balance the load, but each copies a table: at least four vectors for
/// each thread of a block, at most eight times as many blocks as a GPU runs at once, and no fewer than that.
inline int table_blocks(int n) {
  const int at_once = resident_threads() / kTableThreads, steps = ceil_div(n, 8 * kTableThreads);
  return min(steps, max(at_once, min(steps / 4, 8 * at_once)));
}

template <class Form>
void launch_compute_table(float* factors, float scale) {
  launch(compute_table<Form>, ceil_div(kFactors, kThreads), kThreads, factors, scale);
}

/// What the table costs: it is written once, and each block reads it.
inline Traffic table_traffic(const Shape& s) {
  const long long once = sector_bytes(kFactors), blocks = table_blocks(static_cast<int>(elements(s)));
  return {blocks * once, once, (blocks - 1) * once};
}

template <int Rounds>
struct ByTable {
  static constexpr Stage row = kForward.with(
      {.name = Rounds == 10 ? "06_table" : "06_seven_rounds",
       .idea = Rounds == 10 ? "bfloat16, and GELU by a table" : "by a table, and Philox with seven rounds",
       .output = {Rounds == 10 ? &kYBFloat16 : &kYSevenRounds},
       .kernels = 2});
  static void run(const Data& d) {
    const int n = element_count(d);
    const Dropout dropout = dropout_of<16>(d);
    float* factors = d[kTable];
    launch_compute_table<Distribution>(factors, dropout.scale);
    launch(by_table<Rounds>, table_blocks(n), kTableThreads, d[kXBFloat16], factors,
           d[Rounds == 10 ? kYBFloat16 : kYSevenRounds], static_cast<unsigned>(n), dropout);
  }
  static Traffic traffic(const Shape& s) {
    return Traffic{vector_bytes(s, 2), vector_bytes(s, 2)} + table_traffic(s);
  }
};

}  // namespace DEVICE::gelu_dropout
