/// \file
/// Stage 4: a probability needs no 24 bits. With 16 for each element, a call is enough for eight: a thread
/// has two vectors of four floats.
#pragma once
#include "problem.cuh"

namespace DEVICE::gelu_dropout {

/// GELU in both forms, for kernels that take the form as a parameter.
struct Erf {
  static constexpr bool kTanh = false;
  __device__ static float value(float v) { return gelu(v); }
  __device__ static float slope(float v) { return gelu_slope(v); }
};
struct Tanh {
  static constexpr bool kTanh = true;
  __device__ static float value(float v) { return gelu_tanh(v); }
  __device__ static float slope(float v) { return gelu_tanh_slope(v); }
};

// [forward]
/// y[i] = dropout(gelu(x[i])), two float4 and one Philox call per thread. The first vectors of a warp's lanes
/// stand side by side, and then their second ones: a lane's vectors are 32 apart.
/// Traffic: reads 4 bytes and writes 4 bytes per element.
template <class Form>
__global__ void sixteen_bits(const float* __restrict__ x, float* __restrict__ y, unsigned n,
                             Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned warp = t / 32, lane = t % 32;
  const unsigned first = 64 * warp + lane, second = first + 32;
  const bool aligned = are_aligned(x, y);
  Vector<float> a = load(x, first, n, aligned), b = load(x, second, n, aligned);
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    a.element[j] = dropout(Form::value(a.element[j]), number<16>(call, j));
    b.element[j] = dropout(Form::value(b.element[j]), number<16>(call, 4 + j));
  }
  store(y, first, n, aligned, a);
  store(y, second, n, aligned, b);
}
// [forward]

// --- On the host ---

/// y in float32, in the form Erf or Tanh.
template <class Form>
struct SixteenBits {
  static constexpr Stage row = kForward.with(
      {.name = Form::kTanh ? "04_tanh" : "04_sixteen_bits",
       .idea = Form::kTanh ? "the same with the tanh form of GELU" : "16 bits are enough: one call for eight",
       .output = {Form::kTanh ? &kYTanh : &kY}});
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(sixteen_bits<Form>, ceil_div(n, 8 * kThreads), kThreads, d[kX], d[Form::kTanh ? kYTanh : kY],
           static_cast<unsigned>(n), dropout_of<16>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
