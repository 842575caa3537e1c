/// \file
/// Stage 9: nothing is saved. Seed, offset and index give the same numbers again, so the backward pass draws
/// the mask a second time.
#pragma once
#include "04_sixteen_bits.cuh"

namespace DEVICE::gelu_dropout {

// [backward]
/// dx[i] = dy[i] * scale * the derivative of gelu at x[i], or 0 where the forward pass has dropped element i:
/// the numbers are shared out as in the forward pass. Traffic: reads two elements and writes one per element.
template <class T, int Vectors, class Form>
__global__ void backward(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx, unsigned n,
                         Dropout dropout) {
  using Numbers = Sharing<T, Vectors>;
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = Numbers::first_vector(t);
  const bool aligned = are_aligned(x, dy, dx);
  Vector<T> values[Vectors], dys[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    values[v] = load(x, first + 32 * v, n, aligned);
    dys[v] = load(dy, first + 32 * v, n, aligned);
  }
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
#pragma unroll
    for (int j = 0; j < Numbers::kWidth; ++j) {
      const unsigned drawn = number<Numbers::kBits>(call, v * Numbers::kWidth + j);
      T& element = dys[v].element[j];
      const float derivative = Form::slope(to_float(values[v].element[j]));
      element = from_float<T>(dropout(to_float(element) * derivative, drawn));
    }
    store(dx, first + 32 * v, n, aligned, dys[v]);
  }
}
// [backward]

// --- On the host ---

template <class T, int Vectors, class Form>
void launch_backward(const Data& d, const T* x, const T* dy, T* dx) {
  using Numbers = Sharing<T, Vectors>;
  const int n = element_count(d);
  launch(backward<T, Vectors, Form>, ceil_div(n, Numbers::kNumbers * kThreads), kThreads, x, dy, dx,
         static_cast<unsigned>(n), dropout_of<Numbers::kBits>(d));
}

/// In the form Erf or Tanh.
template <class Form>
struct Recomputed {
  static constexpr Stage row =
      kBackward.with({.name = Form::kTanh ? "09_tanh" : "09_recomputed",
                      .idea = Form::kTanh ? "the same with the tanh form of GELU"
                                          : "backward: the mask is drawn again, nothing is saved",
                      .output = {Form::kTanh ? &kDxTanh : &kDx}});
  static void run(const Data& d) {
    launch_backward<float, 2, Form>(d, d[kX], d[kDy], d[Form::kTanh ? kDxTanh : kDx]);
  }
  static Traffic traffic(const Shape& s) { return {2 * vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

struct RecomputedBFloat16 {
  static constexpr Stage row =
      kBackward.with({.name = "09_bfloat16", .idea = "backward in half the bytes", .output = {&kDxBFloat16}});
  static void run(const Data& d) {
    launch_backward<__nv_bfloat16, 1, Erf>(d, d[kXBFloat16], d[kDyBFloat16], d[kDxBFloat16]);
  }
  static Traffic traffic(const Shape& s) { return {2 * vector_bytes(s, 2), vector_bytes(s, 2)}; }
};

}  // namespace DEVICE::gelu_dropout
