/// \file
/// For stages that show what a library does: cuBLAS's product, and cuBLASLt's product with bias and GELU (its
/// tanh form) as an epilogue. Both expect column-major matrices. A row-major matrix is the transposed one in
/// column-major order, so they are called for y^T = w x^T.
#pragma once
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <array>
#include <cmath>
#include <map>
#include <string>

#include "device.hpp"
#include "gpu/buffer.hpp"

namespace DEVICE {

inline void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/// Bytes of scratch memory: NVIDIA recommends 32 MiB for compute capability 9.0; with more, cuBLASLt has more
/// algorithms to choose from.
constexpr size_t kCublasWorkspace = size_t{256} << 20;

/// The libraries' scratch memory on the current GPU, whose number is `gpu`. Without it they would allocate
/// some in each recorded graph.
inline void* cublas_workspace(int gpu = 0) {
  static std::map<int, Buffer<char>> memory;
  return memory.try_emplace(gpu, kCublasWorkspace).first->second.data();
}

/// cuBLAS on that GPU, and on the stream that launches go to.
inline cublasHandle_t cublas(int gpu = 0) {
  static std::map<int, cublasHandle_t> made;
  cublasHandle_t& handle = made[gpu];
  if (!handle) check_cublas(cublasCreate(&handle));
  check_cublas(cublasSetStream(handle, launch_stream));  // this resets the workspace
  check_cublas(cublasSetWorkspace(handle, cublas_workspace(gpu), kCublasWorkspace));
  return handle;
}

template <class T>
constexpr cudaDataType kCudaType = CUDA_R_32F;
template <>
constexpr cudaDataType kCudaType<__nv_bfloat16> = CUDA_R_16BF;

/// product = x * w^T for row-major x (m x k), w (n x k) and product (m x n), all float32 or all bfloat16.
/// Sums are float32; TF32 is not used.
template <class T>
void cublas_product(const T* x, const T* w, T* product, int m, int k, int n, int gpu = 0) {
  const float one = 1.0f, zero = 0.0f;
  check_cublas(cublasGemmEx(cublas(gpu), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w, kCudaType<T>, k, x,
                            kCudaType<T>, k, &zero, product, kCudaType<T>, n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
}

/// Milliseconds of one run of `work` on the stream of this thread.
template <class Work>
float milliseconds(const Work& work) {
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(cudaEventRecord(start, cudaStreamPerThread));
  work();
  check(cudaEventRecord(end, cudaStreamPerThread));
  check(cudaEventSynchronize(end));
  float time = 0;
  check(cudaEventElapsedTime(&time, start, end));
  check(cudaEventDestroy(end));
  check(cudaEventDestroy(start));
  return time;
}

/// cuBLASLt's description of gelu_tanh(x * w^T + bias) at one shape, and the fastest of the algorithms that
/// its heuristic offers: the one that it ranks first often is not. The bias is of type T as well.
template <class T>
struct LtLinear {
  static constexpr int kMostOffers = 32;

  cublasLtMatmulDesc_t operation = {};
  cublasLtMatrixLayout_t w = {}, x = {}, y = {};
  std::array<cublasLtMatmulHeuristicResult_t, kMostOffers> offers = {};
  int offered = 0, best = -1;  // best: none is chosen yet

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
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle(), operation, w, x, y, y, preference,
                                                                 kMostOffers, offers.data(), &offered);
    check_cublas(cublasLtMatmulPreferenceDestroy(preference));
    check_cublas(offered == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : status);
  }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check_cublas(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
  }

  cublasStatus_t run(int offer, const T* x_data, const T* w_data, const T* bias, T* y_data) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    const float one = 1.0f, zero = 0.0f;
    return cublasLtMatmul(handle(), operation, &one, w_data, w, x_data, x, &zero, y_data, y, y_data, y,
                          &offers[static_cast<size_t>(offer)].algo, cublas_workspace(), kCublasWorkspace,
                          cudaStreamPerThread);
  }

  /// Sets `best`: the offers take turns, and the one with the least time in any of them wins. The first turn
  /// does not count.
  void choose(const T* x_data, const T* w_data, const T* bias, T* y_data) {
    constexpr int kTurns = 8;
    float least = INFINITY;
    for (int turn = 0; turn < kTurns; ++turn)
      for (int offer = 0; offer < offered; ++offer) {
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
        const float time = milliseconds([&] { status = run(offer, x_data, w_data, bias, y_data); });
        if (turn == 0 || status != CUBLAS_STATUS_SUCCESS || time >= least) continue;
        least = time;
        best = offer;
      }
    check_cublas(best < 0 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
  }
};

/// y = gelu_tanh(x * w^T + bias), matrices as in cublas_product(), all float32 or all bfloat16. The first
/// call for a shape chooses the algorithm, by running all; it must not be recorded in a graph.
template <class T>
void cublaslt_linear(const T* x, const T* w, const T* bias, T* y, int m, int k, int n) {
  static std::map<std::array<int, 3>, LtLinear<T>> made;
  LtLinear<T>& linear = made.try_emplace({m, k, n}, m, k, n).first->second;
  if (linear.best < 0) linear.choose(x, w, bias, y);
  check_cublas(linear.run(linear.best, x, w, bias, y));
}

}  // namespace DEVICE
