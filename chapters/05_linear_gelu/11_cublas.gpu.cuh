/// \file
/// Stage 11: what an engineer would call instead of writing a kernel. cuBLAS computes the product; cuBLASLt
/// adds bias and GELU, in its tanh form, in an epilogue.
#pragma once
#include "bias_gelu_pass.cuh"
#include "gpu/cublas.hpp"

namespace DEVICE::linear_gelu {

// --- On the host ---

/// At the least: each element of x, w and the result once.
inline Traffic least_product_traffic(const Shape& s) {
  return product_traffic(s, input_bytes(s), 4 * y_elements(s));
}

/// The product alone.
struct Sgemm {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    cublas_product(a.x, a.w, a.product, a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

/// The product, then bias and GELU in a pass of their own.
struct Cublas {
  static void run(const Data& data) {
    Sgemm::run(data);
    launch_bias_gelu_pass(arrays(data));
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + bias_gelu_pass_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

/// All in one call.
struct CublasLt {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    cublaslt_linear(a.x, a.w, a.bias, a.y_tanh, a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + Traffic{4 * n(s), 0, 0}; }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
