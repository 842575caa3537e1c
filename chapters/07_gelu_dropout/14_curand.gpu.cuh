/// \file
/// Stage 14: the random numbers of cuRAND, the library for them, in a kernel that is otherwise stage 3. They
/// are the same to the bit.
#pragma once
#include "problem.cuh"
#if defined(__CUDACC__) && __has_include(<curand_kernel.h>)
#include <curand_kernel.h>
#define WITH_CURAND
#endif

namespace DEVICE::gelu_dropout {

#ifdef WITH_CURAND
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

#endif

// --- On the host ---

struct Curand {
  static constexpr Stage row = kForward.with({.name = "14_curand",
                                              .idea = "library: cuRAND's Philox in stage 3",
                                              .output = {&kYFour},
                                              .needs = "a GPU and curand_kernel.h"});
#ifdef WITH_CURAND
  static void run(const Data& d) {
    const int n = element_count(d);
    launch(by_curand, ceil_div(n, 4 * kThreads), kThreads, d[kX], d[kYFour], static_cast<unsigned>(n),
           dropout_of<24>(d));
  }
  static Traffic traffic(const Shape& s) { return {vector_bytes(s, 4), vector_bytes(s, 4)}; }
#endif
};

}  // namespace DEVICE::gelu_dropout
