// CUDA's header of this name, for programs: the host computes the products, with sums in double, and
// they are not counted (runtime/cublas.cpp).
#pragma once

#define CUBLAS_API_H_  // by which headers know that it has been included

#include <stddef.h>

#include "play/program/runtime.hpp"

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_8I = 3, CUDA_R_16BF = 14 } cudaDataType;
typedef cudaDataType cudaDataType_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;

namespace program {

/// A matrix in memory, column by column, `stride` elements apart.
struct Matrix {
  const void* first;
  cudaDataType type;
  long long stride;
  bool transposed;
};
/// c = alpha * a * b + beta * c, with a of m x k and b of k x n after their transpositions. The scalars are
/// doubles if `in_double`, halves for CUBLAS_COMPUTE_16F, and else floats.
cublasStatus_t gemm(const char* call, int m, int n, int k, const void* alpha, const Matrix& a,
                    const Matrix& b, const void* beta, const Matrix& c, cublasComputeType_t compute);

}  // namespace program

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "an error of cuBLAS";
}

inline cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                   int n, int k, const void* alpha, const void* a, cudaDataType a_type,
                                   int lda, const void* b, cudaDataType b_type, int ldb, const void* beta,
                                   void* c, cudaDataType c_type, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t) {
  return program::gemm("cublasGemmEx", m, n, k, alpha, {a, a_type, lda, of_a != CUBLAS_OP_N},
                       {b, b_type, ldb, of_b != CUBLAS_OP_N}, beta, {c, c_type, ldc, false}, compute);
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const void* alpha,
    const void* a, cudaDataType a_type, int lda, long long stride_a, const void* b, cudaDataType b_type,
    int ldb, long long stride_b, const void* beta, void* c, cudaDataType c_type, int ldc, long long stride_c,
    int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const auto bytes = [](cudaDataType type) {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : type == CUDA_R_8I ? 1 : 2;
  };
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status = program::gemm(
        "cublasGemmStridedBatchedEx", m, n, k, alpha,
        {static_cast<const char*>(a) + i * stride_a * bytes(a_type), a_type, lda, of_a != CUBLAS_OP_N},
        {static_cast<const char*>(b) + i * stride_b * bytes(b_type), b_type, ldb, of_b != CUBLAS_OP_N}, beta,
        {static_cast<char*>(c) + i * stride_c * bytes(c_type), c_type, ldc, false}, compute);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                                  int m, int n, int k, const float* alpha, const float* a, int lda,
                                  const float* b, int ldb, const float* beta, float* c, int ldc) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, beta, c,
                      CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                                  int m, int n, int k, const double* alpha, const double* a, int lda,
                                  const double* b, int ldb, const double* beta, double* c, int ldc) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, CUDA_R_64F, lda, b, CUDA_R_64F, ldb, beta, c,
                      CUDA_R_64F, ldc, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a,
                                                cublasOperation_t of_b, int m, int n, int k,
                                                const float* alpha, const float* a, int lda,
                                                long long stride_a, const float* b, int ldb,
                                                long long stride_b, const float* beta, float* c, int ldc,
                                                long long stride_c, int count) {
  return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, a, CUDA_R_32F, lda, stride_a, b,
                                    CUDA_R_32F, ldb, stride_b, beta, c, CUDA_R_32F, ldc, stride_c, count,
                                    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t of_a, int m, int n,
                                  const float* alpha, const float* a, int lda, const float* x, int,
                                  const float* beta, float* y, int) {
  const bool transposed = of_a != CUBLAS_OP_N;
  const int rows = transposed ? n : m, along = transposed ? m : n;
  return cublasSgemm(handle, of_a, CUBLAS_OP_N, rows, 1, along, alpha, a, lda, x, along, beta, y, rows);
}
