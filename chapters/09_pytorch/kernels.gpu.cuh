/// \file
/// What the kernels of all operators share: elements and vectors of them, sums of columns, and on the host
/// how the C layer launches.
#pragma once
#include <stdexcept>
#include <string>

#include "ceil_div.hpp"
#include "halves.hpp"
#include "pack.hpp"
#include "types.hpp"

namespace DEVICE::operators {

using namespace workbook_ops;

/// What elements of type T are computed in.
template <class T>
struct ComputeType {
  using Type = float;
};
template <>
struct ComputeType<double> {
  using Type = double;
};
template <class T>
using Compute = typename ComputeType<T>::Type;

__device__ inline double widen(double a) { return a; }
template <class T>
__device__ float widen(T a) {
  return to_float(a);
}
template <class T>
__device__ T narrow(Compute<T> a) {
  if constexpr (sizeof(T) == 8)
    return a;
  else
    return from_float<T>(a);
}

/// Width elements in one access: 16 bytes, or one element where arrays are not aligned.
template <int Width, class T>
struct alignas(Width * sizeof(T)) Vector {
  T element[Width];
};
template <class T>
constexpr int kWidest = 16 / sizeof(T);

// --- Sums of columns ---

constexpr int kLanes = 32, kRows = 8;  // threads of a block along a row, and rows at a time

/// Sums of the columns over this block's rows: a block of kLanes x Rows threads has kLanes * Width columns,
/// blockIdx.x says which, and of `rows` rows those of slice blockIdx.y. A thread has Width columns and, of
/// the slice, every Rows-th row. add(r, first, sums) adds the terms of row r to the Sums sums of each of the
/// thread's columns, which begin at column `first`; store(s, column, sum) receives sum s of a column.
template <int Sums, int Width, int Rows, class C, class Add, class Store>
__device__ void sum_columns(unsigned rows, unsigned columns, Add add, Store store) {
  __shared__ C tile[Rows][Sums * Width][kLanes];
  const unsigned first = (blockIdx.x * kLanes + threadIdx.x) * Width;
  const bool inside = first < columns;
  C sums[Sums][Width] = {};
  if (inside)
    for (size_t r = blockIdx.y * Rows + threadIdx.y; r < rows; r += gridDim.y * Rows) add(r, first, sums);
#pragma unroll
  for (int s = 0; s < Sums; ++s)
#pragma unroll
    for (int j = 0; j < Width; ++j) tile[threadIdx.y][s * Width + j][threadIdx.x] = sums[s][j];
  __syncthreads();
  if (threadIdx.y != 0 || !inside) return;
#pragma unroll
  for (int s = 0; s < Sums; ++s)
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      for (int y = 1; y < Rows; ++y) sums[s][j] += tile[y][s * Width + j][threadIdx.x];
      store(s, first + j, sums[s][j]);
    }
}

constexpr int kPartRows = 32;  // rows at a time of sum_parts()

/// out[s][c] = the sum of partial[p][s][c] over the parts divided by `divisor`, for both sums, or one where
/// out1 is null.
template <class T>
__global__ void sum_parts(const Compute<T>* __restrict__ partial, T* __restrict__ out0, T* __restrict__ out1,
                          unsigned parts, unsigned columns, Compute<T> divisor) {
  const unsigned all = out1 ? 2 * columns : columns;
  sum_columns<1, 1, kPartRows, Compute<T>>(
      parts, all, [&](size_t p, unsigned c, Compute<T>(&sums)[1][1]) { sums[0][0] += partial[p * all + c]; },
      [&](int, unsigned c, Compute<T> sum) {
        if (c < columns)
          out0[c] = narrow<T>(sum / divisor);
        else
          out1[c - columns] = narrow<T>(sum / divisor);
      });
}

// --- On the host ---

/// The compute capability of the current device, such as 90 for 9.0.
inline int compute_capability() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return 10 * major + minor;
}

/// Tensor maps are made by the driver, for its current context. A thread that PyTorch has started, such as
/// one of autograd, may not have one yet; choosing the device once more makes it current.
inline void make_context_current() {
  int device = 0;
  check(cudaGetDevice(&device));
  check(cudaSetDevice(device), "cudaSetDevice");
}

/// \throws std::runtime_error if the current device's tensor cores do not know bfloat16
inline void need_bfloat16() {
  if (compute_capability() < 80)
    throw std::runtime_error("bfloat16 needs a GPU of compute capability 8.0 or newer");
}

template <class T>
void launch_sum_parts(const Compute<T>* partial, T* out0, T* out1, int parts, int columns,
                      Compute<T> divisor = 1) {
  const unsigned all = (out1 ? 2u : 1u) * static_cast<unsigned>(columns);
  launch(sum_parts<T>, (all - 1) / kLanes + 1, dim3(kLanes, kPartRows), partial, out0, out1,
         static_cast<unsigned>(parts), static_cast<unsigned>(columns), divisor);
}

inline thread_local std::string last_error;

/// Runs `function` on that stream. Exceptions end here: the callers may be written in C.
template <class Function>
int guarded(void* stream, Function function) noexcept {
  try {
    const OnStream on_stream(stream);
    function();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

}  // namespace DEVICE::operators
