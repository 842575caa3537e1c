/// \file
/// Stage 11: what an engineer would call instead of writing a kernel. cuBLAS computes the product in
/// bfloat16; cuBLASLt adds bias and GELU, in its tanh form, in an epilogue.
#pragma once
#include "01_then_finish.cuh"
#ifdef WORKBOOK_HAS_CUBLAS
#include "fast_gelu.gpu.cuh"
#include "gpu/cublas.hpp"
#endif

namespace DEVICE::tensor_cores {

// --- On the host ---

/// At the least: each element of x, w and the result once.
inline Traffic least_product_traffic(const Shape& s) {
  return {2 * (x_elements(s) + w_elements(s)), 2 * y_elements(s)};
}

/// The row that the stages of cuBLAS share. cuBLAS may round partial sums to bfloat16 where it divides k
/// among blocks (cuBLAS documentation, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION): so at 129x1000x2 on
/// an H200. They are not run on exact inputs, which show every such rounding.
constexpr Stage kCublas = {.output = {&kY},
                           .kernels = kAnyNumber,
                           .roundings = tensor_roundings_twice,
                           .flops = product_flops,
                           .needs = "a GPU and cuBLAS",
                           .capability = 80};

/// The product alone.
struct Gemm {
  static constexpr Stage row = kCublas.with(
      {.name = "11_gemm", .idea = "library: cuBLAS in bfloat16, the product alone", .output = {&kProduct}});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    const Factors a = factors(data);
    cublas_product(a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s); }
#endif
};

/// The product, then bias and GELU in a pass of their own.
struct Cublas {
  static constexpr Stage row =
      kCublas.with({.name = "11_cublas", .idea = "library: cuBLAS in bfloat16, then one pass"});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    Gemm::run(data);
    launch_bias_gelu_pass(data, FastGelu{});
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + bias_gelu_pass_traffic(s); }
#endif
};

/// All in one call. Where k or n is not a multiple of 8, cuBLASLt rounds the product before it adds the bias.
struct CublasLt {
  static constexpr Stage row = kCublas.with({.name = "11_cublaslt",
                                             .idea = "library: cuBLASLt in bfloat16 with bias and GELU, tanh",
                                             .output = {&kYTanh},
                                             .roundings = tensor_roundings,
                                             .needs = "a GPU and cuBLAS; k and n multiples of 8",
                                             .against = "01_tanh"});
#ifdef WORKBOOK_HAS_CUBLAS
  static void run(const Data& data) {
    const Factors a = factors(data);
    cublaslt_linear(a.x, a.w, data[kBiasBFloat16], data[kYTanh], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return least_product_traffic(s) + Traffic{2 * n(s), 0}; }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

}  // namespace DEVICE::tensor_cores
