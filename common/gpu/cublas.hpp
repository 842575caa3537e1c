/// \file
/// For stages that show what a library does: cuBLAS's product, and cuBLASLt's product with bias and GELU (its
/// tanh form) as an epilogue. Both expect column-major matrices. A row-major matrix is the transposed one in
/// column-major order, so they are called for y^T = w x^T.
#pragma once
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <array>
#include <map>
#include <string>

#include "device.hpp"
#include "gpu/buffer.hpp"

namespace DEVICE {

inline void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/// Bytes of scratch memory: what NVIDIA recommends for compute capability 9.0.
constexpr size_t kCublasWorkspace = size_t{32} << 20;

/// The libraries' scratch memory. Without it they would allocate some in each recorded graph.
inline void* cublas_workspace() {
  static const Buffer<char> memory(kCublasWorkspace);
  return memory.data();
}

inline cublasHandle_t cublas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made;
    check_cublas(cublasCreate(&made));
    check_cublas(cublasSetStream(made, cudaStreamPerThread));
    check_cublas(cublasSetWorkspace(made, cublas_workspace(), kCublasWorkspace));
    return made;
  }();
  return handle;
}

template <class T>
constexpr cudaDataType kCudaType = CUDA_R_32F;
template <>
constexpr cudaDataType kCudaType<__nv_bfloat16> = CUDA_R_16BF;

/// product = x * w^T for row-major x (m x k), w (n x k) and product (m x n), all float32 or all bfloat16.
/// Sums are float32; TF32 is not used.
template <class T>
void cublas_product(const T* x, const T* w, T* product, int m, int k, int n) {
  const float one = 1.0f, zero = 0.0f;
  check_cublas(cublasGemmEx(cublas(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w, kCudaType<T>, k, x,
                            kCudaType<T>, k, &zero, product, kCudaType<T>, n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
}

/// cuBLASLt's description of gelu_tanh(x * w^T + bias) at one shape, and the algorithm that its heuristic
/// ranks first. The bias is of type T as well.
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
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, kCudaType<T>);
    check_cublas(cublasLtMatrixLayoutCreate(&w, kCudaType<T>, k, n, k));
    check_cublas(cublasLtMatrixLayoutCreate(&x, kCudaType<T>, k, m, k));
    check_cublas(cublasLtMatrixLayoutCreate(&y, kCudaType<T>, n, m, n));
    cublasLtMatmulPreference_t preference;
    check_cublas(cublasLtMatmulPreferenceCreate(&preference));
    check_cublas(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &kCublasWorkspace, sizeof kCublasWorkspace));
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

/// y = gelu_tanh(x * w^T + bias), matrices as in cublas_product(), all float32 or all bfloat16.
template <class T>
void cublaslt_linear(const T* x, const T* w, const T* bias, T* y, int m, int k, int n) {
  static std::map<std::array<int, 3>, LtLinear<T>> made;
  LtLinear<T>& linear = made.try_emplace({m, k, n}, m, k, n).first->second;
  linear.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float one = 1.0f, zero = 0.0f;
  check_cublas(cublasLtMatmul(LtLinear<T>::handle(), linear.operation, &one, w, linear.w, x, linear.x, &zero,
                              y, linear.y, y, linear.y, &linear.algorithm.algo, cublas_workspace(),
                              kCublasWorkspace, cudaStreamPerThread));
}

}  // namespace DEVICE
