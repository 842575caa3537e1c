/// \file
/// Stage 11: what an engineer would call instead of writing a kernel. cuBLAS computes the product; cuBLASLt
/// adds bias and GELU, in its tanh form, in an epilogue.
#pragma once
#include "09_then_finish.cuh"
#ifdef WORKBOOK_HAS_CUBLAS
#include "gpu/cublas.hpp"
#endif

namespace DEVICE::linear_gelu {

// --- On the host ---

/// At the least: each element of x, w and the result once.
inline Traffic least_product_traffic(const Shape& s) {
  return product_traffic(s, input_bytes(s), 4 * y_elements(s));
}

/// The rows that the stages of cuBLAS share: the product alone, and with bias and GELU.
constexpr Stage kCublas = {.kernels = kAnyNumber, .needs = "a GPU and cuBLAS; at most 2^38 multiplications"};
constexpr Stage kCublasProduct = kComputesProduct.with(kCublas), kCublasY = kComputesY.with(kCublas);

/// The product alone.
struct Sgemm {
  static constexpr Stage row =
      kCublasProduct.with({.name = "11_sgemm", .idea = "library: cuBLAS, the product alone"});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    const Factors a = factors(data);
    cublas_product(a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
#endif
};

/// The product, then bias and GELU in a pass of their own.
struct Cublas {
  static constexpr Stage row =
      kCublasY.with({.name = "11_cublas", .idea = "library: cuBLAS, then bias and GELU in one pass"});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    Sgemm::run(data);
    launch_bias_gelu_pass(data);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + bias_gelu_pass_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
#endif
};

/// All in one call.
struct CublasLt {
  static constexpr Stage row =
      kCublasY.with({.name = "11_cublaslt",
                     .idea = "library: cuBLASLt with bias and GELU, tanh, as its epilogue",
                     .output = {&kYTanh},
                     .against = "10_tanh"});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    const Factors a = factors(data);
    cublaslt_linear(a.x, a.w, data[kBias], data[kYTanh], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + Traffic{4 * n(s), 0, 0}; }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
#endif
};

}  // namespace DEVICE::linear_gelu
