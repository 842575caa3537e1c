// the lesson's stage 9: templates, vectors with zeros past the end
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

template <class T>
struct alignas(16) Vector {
  static constexpr int kWidth = 16 / sizeof(T);
  T element[kWidth] = {};

  __device__ uint4& bits() { return *reinterpret_cast<uint4*>(element); }
  __device__ const uint4& bits() const { return *reinterpret_cast<const uint4*>(element); }
};

template <class T>
__device__ inline Vector<T> load(const T* array, unsigned v, unsigned n) {
  constexpr unsigned kWidth = Vector<T>::kWidth;
  Vector<T> vector;
  if (kWidth * v + kWidth <= n) {
    vector.bits() = reinterpret_cast<const uint4*>(array)[v];
    return vector;
  }
  for (unsigned j = 0; j < kWidth; ++j)
    if (kWidth * v + j < n) vector.element[j] = array[kWidth * v + j];
  return vector;
}

template <class T>
__device__ inline void store(T* array, unsigned v, unsigned n, const Vector<T>& vector) {
  constexpr unsigned kWidth = Vector<T>::kWidth;
  if (kWidth * v + kWidth <= n) {
    reinterpret_cast<uint4*>(array)[v] = vector.bits();
    return;
  }
  for (unsigned j = 0; j < kWidth; ++j)
    if (kWidth * v + j < n) array[kWidth * v + j] = vector.element[j];
}

template <class T, int Vectors>
__global__ void backward(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx, unsigned n,
                         Dropout dropout) {
  using Numbers = Sharing<T, Vectors>;
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = t / 32 * 32 * Vectors + t % 32;
  Vector<T> values[Vectors], slopes[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    values[v] = load(x, first + 32 * v, n);
    slopes[v] = load(dy, first + 32 * v, n);
  }
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
#pragma unroll
    for (int j = 0; j < Numbers::kWidth; ++j) {
      const unsigned drawn = number<Numbers::kBits>(call, v * Numbers::kWidth + j);
      slopes[v].element[j] = dropout(slopes[v].element[j] * gelu_slope(values[v].element[j]), drawn);
    }
    store(dx, first + 32 * v, n, slopes[v]);
  }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward<float, 2>, (n + 2047) / 2048, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
