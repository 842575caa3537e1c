/// \file
/// Stage 5: a fused kernel that nobody wrote. A chain of functions is a type, from which the compiler makes
/// the kernel, with the same instructions as that of stage 4.
#pragma once
#include "problem.cuh"
#include "vectors.hpp"

namespace DEVICE::add_mul_exp {

// --- Links: the first takes all inputs, each of the others the value before it ---

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// [links]
struct Twice {
  template <class T>
  __device__ T operator()(T a) const {
    return a * T(2);
  }
};

struct Exp {
  __device__ float operator()(float a) const { return expf(a); }
  __device__ double operator()(double a) const { return exp(a); }
};
// [links]

// [composed]
/// First(inputs...), then each of Rest applied to the result so far: Chain<Add, Twice, Exp>()(x, y) is
/// exp((x + y) * 2). A chain can be a link of another chain.
template <class First, class... Rest>
struct Chain {
  template <class... T>
  __device__ auto operator()(T... inputs) const {
    auto value = First()(inputs...);
    ((value = Rest()(value)), ...);
    return value;
  }
};
// [composed]

// --- The kernel of any chain ---

/// out[i] = Function()(in[i]...), one thread per vector of four elements; any n, any alignment.
/// Traffic: reads 4 bytes per element and input, writes 4 bytes per element. `__ldg` says that no
/// thread writes to the inputs, as `__restrict__` does in stage 4: g++ has no `__restrict__` for a pack of
/// pointers.
// [elementwise]
template <class Function, class... In>
__global__ void elementwise(float* __restrict__ out, int n, const In*... in) {
  const Function function;
  const Split at = split<4>(n, in..., out);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < at.vectors) {
    const auto on_vectors = [&](auto... v) {
      return make_float4(function(v.x...), function(v.y...), function(v.z...), function(v.w...));
    };
    float4* out4 = reinterpret_cast<float4*>(out + at.head);
    out4[thread] = on_vectors(__ldg(&reinterpret_cast<const float4*>(in + at.head)[thread])...);
  }
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    out[i] = function(__ldg(&in[i])...);
  }
}
// [elementwise]

// --- On the host ---

struct FromChain {
  static constexpr Stage row = kElementwise.with(
      {.name = "05_chain", .idea = "the same kernel, made by the compiler from a chain of functions"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    // [chain]
    launch(elementwise<Chain<Add, Twice, Exp>, float, float>, ceil_div(n, 4 * vector_threads(n)),
           vector_threads(n), data[kOut], n, data[kX], data[kY]);
    // [chain]
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4, 4); }
};

}  // namespace DEVICE::add_mul_exp
