// CUDA's header of this name, for programs: a product with a bias and GELU, computed by the host.
#pragma once

#include "cublas_v2.h"

typedef struct cublasLtContext* cublasLtHandle_t;

typedef enum {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
} cublasLtEpilogue_t;
typedef enum {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
} cublasLtMatmulDescAttributes_t;
typedef enum { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 } cublasLtMatmulPreferenceAttributes_t;

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cublasOperation_t of_a, of_b;
  cublasLtEpilogue_t epilogue;
  const void* bias;
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type;
  long long rows, columns, stride;
};
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
typedef struct cublasLtPreference* cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t {};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
};

namespace program {
/// d = epilogue(c), where c is m x n of that type, column by column, `stride` elements apart.
cublasStatus_t finish(int m, int n, void* c, cudaDataType type, long long stride, cublasLtEpilogue_t epilogue,
                      const void* bias);
}  // namespace program

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                               cudaDataType) {
  *made =
      new cublasLtMatmulDescOpaque_t{compute, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                                     cublasLtMatmulDescAttributes_t which, const void* value,
                                                     size_t bytes) {
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      __builtin_memcpy(&desc->of_a, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      __builtin_memcpy(&desc->of_b, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      __builtin_memcpy(&desc->epilogue, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      __builtin_memcpy(&desc->bias, value, bytes);
      break;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, size_t rows,
                                                 size_t columns, long long stride) {
  *made = new cublasLtMatrixLayoutOpaque_t{type, static_cast<long long>(rows),
                                           static_cast<long long>(columns), stride};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*,
                                                           size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t, int,
                                                     cublasLtMatmulHeuristicResult_t* results, int* count) {
  results[0] = {{}, 0, CUBLAS_STATUS_SUCCESS};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                                     cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t of_c, void* d, cublasLtMatrixLayout_t of_d,
                                     const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  if (c != d) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int m = static_cast<int>(of_c->rows), n = static_cast<int>(of_c->columns);
  const int k = static_cast<int>(desc->of_a == CUBLAS_OP_N ? of_a->columns : of_a->rows);
  const cublasStatus_t status = program::gemm("cublasLtMatmul", m, n, k, alpha,
                                              {a, of_a->type, of_a->stride, desc->of_a != CUBLAS_OP_N},
                                              {b, of_b->type, of_b->stride, desc->of_b != CUBLAS_OP_N}, beta,
                                              {d, of_d->type, of_d->stride, false}, desc->compute);
  return status ? status : program::finish(m, n, d, of_d->type, of_d->stride, desc->epilogue, desc->bias);
}
