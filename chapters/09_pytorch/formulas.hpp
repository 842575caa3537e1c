/// \file
/// The formulas of the operators, for the loops of the CPU and for the kernels. Each computes kOutputs values
/// of one element from kInputs values, in float or double. The gradient of the result comes first among the
/// inputs of a backward formula.
#pragma once
#include <cmath>

#include "types.hpp"

#ifdef __CUDACC__
#include "gelu.hpp"  // the chapters' GELU, in float32
#elif defined __FMA__
#include "cpu_gelu.hpp"
#endif

namespace workbook_ops {

// --- GELU, as common/kernels/gelu.hpp has it, with the limits at infinities ---

/// GELU is 0 below -kFar, and its slope is 0 or 1 beyond kFar. A product with an infinity would be NaN.
constexpr int kFar = 40;

template <class C>
__device__ inline C not_below(C v) {
  return v < C(-kFar) ? C(-kFar) : v;
}
template <class C>
__device__ inline C not_beyond(C v) {
  return v > C(kFar) ? C(kFar) : not_below(v);
}

template <class C>
__device__ inline C normal_distribution(C v) {
  return C(0.5) * (1 + std::erf(v * C(0.70710678118654752440)));
}

/// tanh(sqrt(2 / pi) (v + 0.044715 v^3)).
template <class C>
__device__ inline C gelu_tanh_part(C v) {
  return std::tanh(C(0.79788456080286535588) * (v + C(0.044715) * v * v * v));
}

template <class C>
__device__ inline C gelu(C v) {
  v = not_below(v);
  return v * normal_distribution(v);
}
template <class C>
__device__ inline C gelu_slope(C v) {
  v = not_beyond(v);
  return normal_distribution(v) + v * C(0.39894228040143267794) * std::exp(C(-0.5) * v * v);
}
template <class C>
__device__ inline C gelu_tanh(C v) {
  v = not_below(v);
  return C(0.5) * v * (1 + gelu_tanh_part(v));
}
template <class C>
__device__ inline C gelu_tanh_slope(C v) {
  v = not_beyond(v);
  const C t = gelu_tanh_part(v);
  return C(0.5) * (1 + t) + C(0.5) * v * (1 - t * t) * C(0.79788456080286535588) * (1 + C(0.134145) * v * v);
}
#if defined __FMA__ && !defined __CUDACC__
inline float gelu(float v) { return cpu_gelu(v); }
inline float gelu_slope(float v) { return cpu_gelu_slope(v); }
#endif
#ifdef __CUDACC__
__device__ inline float gelu(float v) { return gpu::gelu(not_below(v)); }
__device__ inline float gelu_slope(float v) { return gpu::gelu_slope(not_beyond(v)); }
__device__ inline float gelu_tanh(float v) { return gpu::gelu_tanh(not_below(v)); }
__device__ inline float gelu_tanh_slope(float v) { return gpu::gelu_tanh_slope(not_beyond(v)); }
#endif

// --- The formulas ---

/// `kRepeats`: the last input is shorter than the others and is read again and again.
template <int Inputs, int Outputs, bool Repeats = false>
struct Counts {
  static constexpr int kInputs = Inputs, kOutputs = Outputs;
  static constexpr bool kRepeats = Repeats;
};

/// q * k + v.
struct MultiplyAdd : Counts<3, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * in[1] + in[2];
  }
};

/// From grad, q and k the gradients of q and k; that of v is grad itself.
struct MultiplyAddBackward : Counts<3, 2> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * in[2];
    out[1] = in[0] * in[1];
  }
};

/// exp((x + y) * 2).
struct AddMulExp : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = std::exp((in[0] + in[1]) * 2);
  }
};

/// From grad and the result the gradient of x, which is also that of y.
struct AddMulExpBackward : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * in[1] * 2;
  }
};

/// max(a + b, 0); a NaN stays one, as in PyTorch.
struct AddRelu : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    const C sum = in[0] + in[1];
    out[0] = sum < 0 ? C(0) : sum;
  }
};

/// From grad and the result the gradient of a, which is also that of b: grad, but 0 where the result is 0.
struct AddReluBackward : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[1] <= 0 ? C(0) : in[0];
  }
};

/// tanh(a * b).
struct MulTanh : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = std::tanh(in[0] * in[1]);
  }
};

/// From grad, a and b the gradients of a and b. The slope 1 - tanh(u)^2 is written as 4 p / (1 + p)^2 with
/// p = exp(-2 |u|): nothing cancels where tanh is near 1, and the result of the forward pass is not needed.
struct MulTanhBackward : Counts<3, 2> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    const C p = std::exp(-2 * std::fabs(in[1] * in[2]));
    const C through = in[0] * (4 * p / ((1 + p) * (1 + p)));
    out[0] = through * in[2];
    out[1] = through * in[1];
  }
};

struct Gelu : Counts<1, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = gelu(in[0]);
  }
};

struct GeluTanh : Counts<1, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = gelu_tanh(in[0]);
  }
};

/// From grad and x the gradient of x.
struct GeluBackward : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * gelu_slope(in[1]);
  }
};

struct GeluTanhBackward : Counts<2, 1> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * gelu_tanh_slope(in[1]);
  }
};

/// GELU(x + bias).
struct BiasGelu : Counts<2, 1, true> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = gelu(in[0] + in[1]);
  }
};

struct BiasGeluTanh : Counts<2, 1, true> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = gelu_tanh(in[0] + in[1]);
  }
};

/// From grad, x and bias the gradient of x.
struct BiasGeluBackward : Counts<3, 1, true> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * gelu_slope(in[1] + in[2]);
  }
};

struct BiasGeluTanhBackward : Counts<3, 1, true> {
  template <class C>
  static __device__ void compute(const C* in, C* out) {
    out[0] = in[0] * gelu_tanh_slope(in[1] + in[2]);
  }
};

/// Calls `function` with the formula of that number.
template <class Function>
void with_formula(int formula, Function function) {
  switch (formula) {
    case kMultiplyAdd:
      return function(MultiplyAdd());
    case kMultiplyAddBackward:
      return function(MultiplyAddBackward());
    case kAddMulExp:
      return function(AddMulExp());
    case kAddMulExpBackward:
      return function(AddMulExpBackward());
    case kAddRelu:
      return function(AddRelu());
    case kAddReluBackward:
      return function(AddReluBackward());
    case kMulTanh:
      return function(MulTanh());
    case kMulTanhBackward:
      return function(MulTanhBackward());
    case kGelu:
      return function(Gelu());
    case kGeluBackward:
      return function(GeluBackward());
    case kGeluTanh:
      return function(GeluTanh());
    case kGeluTanhBackward:
      return function(GeluTanhBackward());
    case kBiasGelu:
      return function(BiasGelu());
    case kBiasGeluTanh:
      return function(BiasGeluTanh());
  }
}

}  // namespace workbook_ops
