#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "chapter.hpp"
#include "cpu_device/access.hpp"
#include "cpu_device/dialect/float16.hpp"
#include "cpu_device/memory/memory.hpp"
#include "play/headers/cublasLt.h"
#include "play/runtime/graphs.hpp"
#include "play/runtime/memory.hpp"

namespace program {
namespace {

std::size_t bytes_of(cudaDataType type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : type == CUDA_R_8I ? 1 : 2;
}

double element(const void* first, cudaDataType type, std::size_t i) {
  const char* at = static_cast<const char*>(first) + i * bytes_of(type);
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case CUDA_R_64F:
      return read(double());
    case CUDA_R_32F:
      return static_cast<double>(read(float()));
    case CUDA_R_8I:
      return read(static_cast<signed char>(0));
    case CUDA_R_16F:
      return static_cast<double>(cpu::detail::HalfFormat::widen(read(std::uint16_t())));
    default:
      return static_cast<double>(cpu::detail::Bfloat16Format::widen(read(std::uint16_t())));
  }
}

void store(void* first, cudaDataType type, std::size_t i, double value) {
  char* at = static_cast<char*>(first) + i * bytes_of(type);
  const auto write = [&](auto number) { std::memcpy(at, &number, sizeof number); };
  if (type == CUDA_R_64F)
    write(value);
  else if (type == CUDA_R_32F)
    write(static_cast<float>(value));
  else if (type == CUDA_R_16F)
    write(cpu::detail::narrow<cpu::detail::HalfFormat>(value));
  else
    write(cpu::detail::narrow<cpu::detail::Bfloat16Format>(value));
}

/// The matrix as rows of k floats: of the product's rows, or of its columns.
std::vector<float> packed(const Matrix& matrix, int rows, int k, bool along_columns) {
  std::vector<float> out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k));
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < k; ++i) {
      const auto stride = static_cast<std::size_t>(matrix.stride);
      const std::size_t at = along_columns
                                 ? static_cast<std::size_t>(r) * stride + static_cast<std::size_t>(i)
                                 : static_cast<std::size_t>(i) * stride + static_cast<std::size_t>(r);
      out[static_cast<std::size_t>(r) * static_cast<std::size_t>(k) + static_cast<std::size_t>(i)] =
          static_cast<float>(element(matrix.first, matrix.type, at));
    }
  return out;
}

/// The bytes from the first element of a matrix of that many columns in memory to its last.
std::size_t extent(const Matrix& matrix, int rows, int columns) {
  return (static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(matrix.stride) +
          static_cast<std::size_t>(rows)) *
         bytes_of(matrix.type);
}

}  // namespace

cublasStatus_t gemm(const char* call, int m, int n, int k, const void* alpha, const Matrix& a,
                    const Matrix& b, const void* beta, const Matrix& c, cublasComputeType_t compute) {
  require_no_capture(
      call, "the host computes this product, and cannot do it later: launch a kernel of your own", CALLER);
  const auto lock = use_device(call);
  if (m <= 0 || n <= 0) return CUBLAS_STATUS_SUCCESS;
  if (c.type == CUDA_R_8I || k < 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (k > 0) require_inside(call, "reads", a.first, a.transposed ? extent(a, k, m) : extent(a, m, k), CALLER);
  if (k > 0) require_inside(call, "reads", b.first, b.transposed ? extent(b, n, k) : extent(b, k, n), CALLER);
  require_inside(call, "writes", c.first, extent(c, m, n), CALLER);
  const cpu::Memory::Access open(cpu::memory(), true);
  const cudaDataType scalar = compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
                              : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                                              : CUDA_R_32F;
  const double by = element(alpha, scalar, 0), keep = element(beta, scalar, 0);
  const std::size_t count = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  std::vector<double> product(count), size(count);
  workbook::product_of_rows(packed(a, m, k, a.transposed).data(), packed(b, n, k, !b.transposed).data(), m, k,
                            n, product.data(), size.data());
  void* const out = const_cast<void*>(c.first);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const std::size_t at =
          static_cast<std::size_t>(j) * static_cast<std::size_t>(c.stride) + static_cast<std::size_t>(i);
      const double sum =
          by *
          product[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)];
      store(out, c.type, at, keep == 0 ? sum : sum + keep * element(out, c.type, at));
    }
    if (cpu::memory().arena().contains(reinterpret_cast<std::uintptr_t>(out)))
      cpu::memory().set_initialised(static_cast<char*>(out) + static_cast<std::size_t>(j) *
                                                                  static_cast<std::size_t>(c.stride) *
                                                                  bytes_of(c.type),
                                    static_cast<std::size_t>(m) * bytes_of(c.type), true);
  }
  count_library_call("cuBLAS");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t finish(int m, int n, void* c, cudaDataType type, long long stride, cublasLtEpilogue_t epilogue,
                      const void* bias) {
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  const auto lock = use_device("cublasLtMatmul");
  if (epilogue & CUBLASLT_EPILOGUE_BIAS)
    require_inside("cublasLtMatmul", "reads", bias, static_cast<std::size_t>(m) * bytes_of(type), CALLER);
  const cpu::Memory::Access open(cpu::memory(), true);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      const std::size_t at =
          static_cast<std::size_t>(j) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i);
      double v = element(c, type, at);
      if (epilogue & CUBLASLT_EPILOGUE_BIAS) v += element(bias, type, static_cast<std::size_t>(i));
      if (epilogue & CUBLASLT_EPILOGUE_RELU) v = v > 0 ? v : 0;
      if (epilogue & CUBLASLT_EPILOGUE_GELU)
        v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
      store(c, type, at, v);
    }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace program
