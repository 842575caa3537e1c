/// \file
/// Not stages of ours: cuBLAS's product, and cuBLASLt's product with bias and GELU (its tanh form) as an
/// epilogue. Both take matrices column by column, where ours are the transposed ones: y^T = w x^T, with w^T
/// as it lies.
#pragma once
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <array>
#include <map>
#include <string>

#include "gpu/buffer.hpp"

namespace gpu::linear_gelu {

inline void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

constexpr size_t kWorkspace = size_t{32} << 20;  // what NVIDIA recommends for compute capability 9.0

/// The libraries' scratch memory: their own would become a part of each recorded graph.
inline void* workspace() {
  static const Buffer<char> memory(kWorkspace);
  return memory.data();
}

inline cublasHandle_t cublas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made;
    check_cublas(cublasCreate(&made));
    check_cublas(cublasSetStream(made, cudaStreamPerThread));
    check_cublas(cublasSetWorkspace(made, workspace(), kWorkspace));
    return made;
  }();
  return handle;
}

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;

/// product = x * w^T, as in stage 1, with float32 sums: of float32 without TF32, or of bfloat16.
template <class T>
void cublas_product(const T* x, const T* w, T* product, int m, int k, int n) {
  const float one = 1.0f, zero = 0.0f;
  check_cublas(cublasGemmEx(cublas(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w, kType<T>, k, x, kType<T>, k,
                            &zero, product, kType<T>, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/// What cuBLASLt is asked for at one shape, and the algorithm that its heuristic puts first. The bias is of
/// type T.
template <class T>
struct LtLinear {
  cublasLtMatmulDesc_t operation = {};
  cublasLtMatrixLayout_t w = {}, x = {}, y = {};
  cublasLtMatmulHeuristicResult_t algorithm = {};

  static cublasLtHandle_t handle() {
    static const cublasLtHandle_t made = [] {
      cublasLtHandle_t handle;
      check_cublas(cublasLtCreate(&handle));
      return handle;
    }();
    return made;
  }

  LtLinear(int m, int k, int n) {
    check_cublas(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, kType<T>);
    check_cublas(cublasLtMatrixLayoutCreate(&w, kType<T>, k, n, k));
    check_cublas(cublasLtMatrixLayoutCreate(&x, kType<T>, k, m, k));
    check_cublas(cublasLtMatrixLayoutCreate(&y, kType<T>, n, m, n));
    cublasLtMatmulPreference_t preference;
    check_cublas(cublasLtMatmulPreferenceCreate(&preference));
    check_cublas(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &kWorkspace, sizeof kWorkspace));
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle(), operation, w, x, y, y, preference, 1, &algorithm, &found);
    check_cublas(cublasLtMatmulPreferenceDestroy(preference));
    check_cublas(found == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : status);
  }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check_cublas(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
  }
};

/// y = gelu_tanh(x * w^T + bias), as in stage 10, in float32 or all of it in bfloat16.
template <class T>
void cublaslt_linear(const T* x, const T* w, const T* bias, T* y, int m, int k, int n) {
  static std::map<std::array<int, 3>, LtLinear<T>> made;
  LtLinear<T>& linear = made.try_emplace({m, k, n}, m, k, n).first->second;
  linear.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float one = 1.0f, zero = 0.0f;
  check_cublas(cublasLtMatmul(LtLinear<T>::handle(), linear.operation, &one, w, linear.w, x, linear.x, &zero,
                              y, linear.y, y, linear.y, &linear.algorithm.algo, workspace(), kWorkspace,
                              cudaStreamPerThread));
}

}  // namespace gpu::linear_gelu
