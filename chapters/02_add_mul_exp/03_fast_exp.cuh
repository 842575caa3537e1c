/// \file
/// Stage 3: less arithmetic. The hardware has one instruction for 2^x, `ex2`; the other instructions of
/// `expf` are there for accuracy. Two kernels, each of which leaves some of them out.
#pragma once
#include "problem.cuh"

namespace DEVICE::add_mul_exp {

// [fast_exp]
/// out[i] = exp((x[i] + y[i]) * 2) by `__expf`: a multiplication by log2(e), rounded to float, and `ex2`.
/// Its error grows with the argument. Traffic: that of stage 2.
__global__ void fast_exp(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __expf((x[i] + y[i]) * 2.0f);
}
// [fast_exp]

// [folded_exp2]
/// 2 * log2(e): exp(2 * s) is 2^(kTwoLog2E * s), so the factor 2 costs nothing.
constexpr float kTwoLog2E = 2.885390081777927f;

/// out[i] = 2^((x[i] + y[i]) * kTwoLog2E): the multiplication by 2 and the one inside of `exp` become one.
/// Traffic: that of stage 2.
__global__ void folded_exp2(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = exp2f((x[i] + y[i]) * kTwoLog2E);
}
// [folded_exp2]

// --- On the host ---

/// In units of expf_roundings(). __expf: 2.5 + 1.173 |a| ulps, beside the sum's |a| u. exp2f: 2.5 ulps,
/// beside three roundings of its argument (the sum, the product, and the constant).
inline int fast_roundings(const Shape&) { return 5; }

struct FastExp {
  static constexpr Stage row = kElementwise.with({.name = "03_fast_exp",
                                                  .idea = "__expf: less arithmetic, a larger error",
                                                  .roundings = fast_roundings});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(fast_exp, ceil_div(n, kThreads), kThreads, data[kX], data[kY], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

struct FoldedExp2 {
  static constexpr Stage row =
      kElementwise.with({.name = "03_folded_exp2",
                         .idea = "exp2f, with the factor 2 and log2(e) in one multiplication",
                         .roundings = fast_roundings});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(folded_exp2, ceil_div(n, kThreads), kThreads, data[kX], data[kY], data[kOut], n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::add_mul_exp
