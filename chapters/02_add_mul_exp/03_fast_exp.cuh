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

struct FastExp {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(fast_exp, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.out, a.n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

struct FoldedExp2 {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(folded_exp2, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.out, a.n);
  }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

/// In units of expf_roundings(). __expf: 2.5 + 1.173 |a| ulps, beside the sum's |a| u. exp2f: 2.5 ulps,
/// beside three roundings of its argument (the sum, the product, and the constant).
inline int fast_roundings(const Shape&) { return 5; }

}  // namespace DEVICE::add_mul_exp
