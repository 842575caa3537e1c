/// \file
/// Stage 4: a probability needs no 32 bits. With 16 for each element, a call is enough for eight: a thread
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
/// y[i] = dropout(gelu(x[i])) for T = float, __half or __nv_bfloat16: one Philox call per thread, shared out
/// over its `Vectors` vectors of 16 bytes, which are 32 apart. Traffic: reads and writes each element once.
template <class T, int Vectors, class Form>
__global__ void forward(const T* __restrict__ x, T* __restrict__ y, unsigned n, Dropout dropout) {
  using Numbers = Sharing<T, Vectors>;
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = Numbers::first_vector(t);
  const bool aligned = are_aligned(x, y);
  Vector<T> values[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) values[v] = load(x, first + 32 * v, n, aligned);
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < Vectors; ++v)
#pragma unroll
    for (int j = 0; j < Numbers::kWidth; ++j) {
      const unsigned drawn = number<Numbers::kBits>(call, v * Numbers::kWidth + j);
      T& element = values[v].element[j];
      element = from_float<T>(dropout(Form::value(to_float(element)), drawn));
    }
#pragma unroll
  for (int v = 0; v < Vectors; ++v) store(y, first + 32 * v, n, aligned, values[v]);
}
// [forward]

// --- On the host ---

template <class T, int Vectors, class Form>
void launch_forward(const Data& d, const T* x, T* y) {
  using Numbers = Sharing<T, Vectors>;
  const int n = element_count(d);
  launch(forward<T, Vectors, Form>, ceil_div(n, Numbers::kNumbers * kThreads), kThreads, x, y,
         static_cast<unsigned>(n), dropout_of<Numbers::kBits>(d));
}

/// y in float32, in the form Erf or Tanh.
template <class Form>
struct SixteenBits {
  static void run(const Data& d) {
    launch_forward<float, 2, Form>(d, d.floats("x"), d.floats(Form::kTanh ? "y_tanh" : "y"));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
