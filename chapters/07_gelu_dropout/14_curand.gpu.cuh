/// \file
/// Stage 14: the random numbers of cuRAND, the library for them, in a kernel that is otherwise stage 3. They
/// are the same to the bit.
#pragma once
#include <curand_kernel.h>

#include "problem.cuh"

namespace DEVICE::gelu_dropout {

// [curand]
/// y[i] = dropout(gelu(x[i])), four elements per thread, one call of curand4() each.
__global__ void by_curand(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const bool aligned = are_aligned(x, y);
  Vector<float> four = load(x, t, n, aligned);
  curandStatePhilox4_32_10_t state;
  curand_init(dropout.random.seed, t, 4 * dropout.random.offset, &state);
  const uint4 call = curand4(&state);
#pragma unroll
  for (int j = 0; j < 4; ++j) four.element[j] = dropout(gelu(four.element[j]), number<24>(call, j));
  store(y, t, n, aligned, four);
}
// [curand]

// --- On the host ---

struct Curand {
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(by_curand, ceil_div(n, 4 * kThreads), kThreads, d.floats("x"), d.floats("y_four"),
           static_cast<unsigned>(n), dropout_of<24>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
};

}  // namespace DEVICE::gelu_dropout
