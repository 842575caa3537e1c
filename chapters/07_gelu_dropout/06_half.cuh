/// \file
/// Stage 6: float16 or bfloat16 in and out. A vector of 16 bytes has eight elements, and a call
/// has eight numbers of 16 bits. The arithmetic stays in float32, and the result is rounded once.
#pragma once
#include "04_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// [forward]
/// y[i] = dropout(gelu(x[i])) for T = __half or __nv_bfloat16, one vector of eight elements and one Philox
/// call per thread. Traffic: reads 2 bytes and writes 2 bytes per element.
template <class T, class Form>
__global__ void sixteen_bit_type(const T* __restrict__ x, T* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const bool aligned = are_aligned(x, y);
  Vector<T> eight = load(x, t, n, aligned);
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float activated = Form::value(to_float(eight.element[j]));
    eight.element[j] = from_float<T>(dropout(activated, number<16>(call, j)));
  }
  store(y, t, n, aligned, eight);
}
// [forward]

// --- On the host ---

template <class Form, class T>
void launch_sixteen_bit_type(const Data& d, const T* x, T* y) {
  const int n = element_count(d);
  launch(sixteen_bit_type<T, Form>, ceil_div(n, 8 * kThreads), kThreads, x, y, static_cast<unsigned>(n),
         dropout_of<16>(d));
}

struct Float16 {
  static constexpr Stage row = kForward.with(
      {.name = "06_float16", .idea = "half the bytes: float16 in and out", .output = {&kYFloat16}});
  static void run(const Data& d) { launch_sixteen_bit_type<Erf>(d, d[kXFloat16], d[kYFloat16]); }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

/// In the form Erf or Tanh.
template <class Form>
struct BFloat16 {
  static constexpr Stage row = kForward.with(
      {.name = Form::kTanh ? "06_tanh" : "06_bfloat16",
       .idea = Form::kTanh ? "bfloat16 and the tanh form" : "half the bytes: bfloat16 in and out",
       .output = {Form::kTanh ? &kYTanhBFloat16 : &kYBFloat16}});
  static void run(const Data& d) {
    launch_sixteen_bit_type<Form>(d, d[kXBFloat16], d[Form::kTanh ? kYTanhBFloat16 : kYBFloat16]);
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

}  // namespace DEVICE::gelu_dropout
