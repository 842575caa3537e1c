/// \file
/// Stage 11: what an engineer would call instead of writing a kernel. cuBLAS computes the product in
/// bfloat16; cuBLASLt adds bias and GELU, in its tanh form, in an epilogue.
#pragma once
#include "bias_gelu_pass.cuh"
#include "fast_gelu.gpu.cuh"
#include "gpu/cublas.hpp"

namespace DEVICE::tensor_cores {

// --- On the host ---

/// At the least: each element of x, w and the result once.
inline Traffic least_product_traffic(const Shape& s) {
  return {2 * (x_elements(s) + w_elements(s)), 2 * y_elements(s)};
}

/// The product alone.
struct Gemm {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    cublas_product(a.x, a.w, a.product, a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s); }
};

/// The product, then bias and GELU in a pass of their own.
struct Cublas {
  static void run(const Data& data) {
    Gemm::run(data);
    launch_bias_gelu_pass(arrays(data), FastGelu{});
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + bias_gelu_pass_traffic(s); }
};

/// All in one call. Where k or n is not a multiple of 8, cuBLASLt rounds the product before it adds the bias.
struct CublasLt {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    cublaslt_linear(a.x, a.w, a.bias_bfloat16, a.y_tanh, a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + Traffic{2 * n(s), 0}; }
  static bool suits(const Shape& s) { return of_eights(s); }
};

}  // namespace DEVICE::tensor_cores
