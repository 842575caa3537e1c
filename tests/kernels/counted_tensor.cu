#include "counted_tensor.hpp"
#include "device.hpp"
#include "tensor_types.hpp"

namespace DEVICE::test_kernels {
namespace {

namespace wmma = nvcuda::wmma;
using wmma::accumulator;
using wmma::col_major;
using wmma::matrix_a;
using wmma::matrix_b;
using wmma::row_major;

__device__ inline float sum(const float& v) { return v; }
__device__ inline float sum(const float2& v) { return v.x + v.y; }
__device__ inline float sum(const float4& v) { return v.x + v.y + v.z + v.w; }

/// A tile in rows of `row` vectors, which are `from` vectors apart in device memory and `to` apart in shared
/// memory; swizzled, vector i of row r is at place i ^ r.
struct Rows {
  int row, from, to;
  bool swizzled;
};

/// Each lane copies a vector to shared memory and reads it back.
template <class Vector>
__global__ void async_copy(const Vector* in, float* out, Rows rows) {
  __shared__ __align__(128) Vector s[32 * 33];
  const int t = threadIdx.x, row = t / rows.row, column = t % rows.row;
  const int source = (blockIdx.x * (32 / rows.row) + row) * rows.from + column;
  const int place = row * rows.to + (rows.swizzled ? column ^ row % rows.row : column);
  __pipeline_memcpy_async(&s[place], &in[source], sizeof(Vector));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const Vector value = s[place];
  out[blockIdx.x * 32 + t] = sum(value);
}

/// Lanes from `First` on copy nothing of their last `Zeros` bytes.
template <int First, int Zeros>
__global__ void async_zeros(const float4* in, float* out) {
  __shared__ float4 s[32];
  const int t = threadIdx.x, i = blockIdx.x * 32 + t;
  __pipeline_memcpy_async(&s[t], &in[i], 16, t < First ? 0 : Zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const float4 value = s[t];
  out[i] = sum(value);
}

/// Each warp multiplies two matrices that are contiguous in device memory, one row (or column) after another.
template <class T, int M, int N, int K, class LayoutA, class LayoutB, wmma::layout_t LayoutOut, class Sum>
__global__ void product(const typename Storage<T>::Type* a, const typename Storage<T>::Type* b, Sum* out) {
  wmma::fragment<matrix_a, M, N, K, T, LayoutA> fragment_a;
  wmma::fragment<matrix_b, M, N, K, T, LayoutB> fragment_b;
  wmma::fragment<accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(0.0f));
  wmma::load_matrix_sync(fragment_a, a + blockIdx.x * M * K, kByColumns<LayoutA> ? M : K);
  wmma::load_matrix_sync(fragment_b, b + blockIdx.x * K * N, kByColumns<LayoutB> ? K : N);
  wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  wmma::store_matrix_sync(out + blockIdx.x * M * N, sum, LayoutOut == wmma::mem_row_major ? N : M, LayoutOut);
}

/// Fragments of 16 x K and K x 16 from two tiles of shared memory, whose lines of K elements are `Stride`
/// elements apart.
template <class T, int K, int Stride>
__global__ void shared_product(const typename Storage<T>::Type* in, float* out) {
  using Number = typename Storage<T>::Type;
  __shared__ __align__(32) Number tile_a[16 * Stride];
  __shared__ __align__(32) Number tile_b[16 * Stride];
  for (int i = threadIdx.x; i < 16 * K; i += 32) {
    const Number value = in[blockIdx.x * 16 * K + i];
    tile_a[i / K * Stride + i % K] = value;
    tile_b[i / K * Stride + i % K] = value;
  }
  __syncwarp();
  wmma::fragment<matrix_a, 16, 16, K, T, row_major> fragment_a;
  wmma::fragment<matrix_b, 16, 16, K, T, col_major> fragment_b;
  wmma::fragment<accumulator, 16, 16, K, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(fragment_a, tile_a, Stride);
  wmma::load_matrix_sync(fragment_b, tile_b, Stride);
  wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  wmma::store_matrix_sync(out + blockIdx.x * 256, sum, 16, wmma::mem_row_major);
}

constexpr int kWarps = 1024;  // each alone in its block

template <class Vector, int Row, int From, int To, bool Swizzled = false>
void run_copy(float* a, float*, float*, float* out) {
  launch(async_copy<Vector>, kWarps, 32, reinterpret_cast<const Vector*>(a), out,
         Rows{Row, From, To, Swizzled});
}

template <int First, int Zeros>
void run_zeros(float* a, float*, float*, float* out) {
  launch(async_zeros<First, Zeros>, kWarps, 32, reinterpret_cast<const float4*>(a), out);
}

template <class T, int M, int N, int K, class LayoutA, class LayoutB, wmma::layout_t LayoutOut,
          class Sum = float>
void run_product(float* a, float* b, float*, float* out) {
  using Number = typename Storage<T>::Type;
  launch(product<T, M, N, K, LayoutA, LayoutB, LayoutOut, Sum>, kWarps, 32,
         reinterpret_cast<const Number*>(a), reinterpret_cast<const Number*>(b), reinterpret_cast<Sum*>(out));
}

template <class T, int K, int Stride>
void run_shared_product(float* a, float*, float*, float* out) {
  using Number = typename Storage<T>::Type;
  launch(shared_product<T, K, Stride>, kWarps, 32, reinterpret_cast<const Number*>(a), out);
}

using Bf16 = __nv_bfloat16;
using Tf32 = wmma::precision::tf32;
constexpr auto kRows = wmma::mem_row_major, kColumns = wmma::mem_col_major;

const CountedKernel kKernels[] = {
    {"async copy, 4 bytes, stride 1", run_copy<float, 1, 1, 1>},
    {"async copy, 4 bytes, stride 2", run_copy<float, 1, 1, 2>},
    {"async copy, 4 bytes, stride 32", run_copy<float, 1, 1, 32>},
    {"async copy, 4 bytes, stride 33", run_copy<float, 1, 1, 33>},
    {"async copy, 8 bytes, stride 1", run_copy<float2, 1, 1, 1>},
    {"async copy, 8 bytes, stride 2", run_copy<float2, 1, 1, 2>},
    {"async copy, 16 bytes, stride 1", run_copy<float4, 1, 1, 1>},
    {"async copy, 16 bytes, stride 2", run_copy<float4, 1, 1, 2>},
    {"async copy, 16 bytes, stride 3", run_copy<float4, 1, 1, 3>},
    {"async copy, 16 bytes, rows of 8, 9 apart", run_copy<float4, 8, 8, 9>},
    {"async copy, 16 bytes, rows of 8, 10 apart", run_copy<float4, 8, 8, 10>},
    {"async copy, 16 bytes, rows of 4, 5 apart", run_copy<float4, 4, 4, 5>},
    {"async copy, 16 bytes, rows of 2, 3 apart", run_copy<float4, 2, 2, 3>, Difference::kCopies},
    {"async copy, 16 bytes, rows of 2, 4 apart", run_copy<float4, 2, 2, 4>},
    {"async copy, 16 bytes, rows of 8 from 16 apart, 8 apart", run_copy<float4, 8, 16, 8>},
    {"async copy, 16 bytes, rows of 8 from 16 apart, 9 apart", run_copy<float4, 8, 16, 9>},
    {"async copy, 16 bytes, rows of 8 from 16 apart, swizzled", run_copy<float4, 8, 16, 8, true>},
    {"async copy, 16 bytes, rows of 4 from 16 apart, 4 apart", run_copy<float4, 4, 16, 4>},
    {"async copy, 16 bytes, rows of 4 from 16 apart, 5 apart", run_copy<float4, 4, 16, 5>},
    {"async copy, 16 bytes, rows of 4 from 16 apart, swizzled", run_copy<float4, 4, 16, 4, true>},
    {"async copy, 16 bytes, rows of 2 from 8 apart, 2 apart", run_copy<float4, 2, 8, 2>},
    {"async copy, 16 bytes, rows of 1 from 2 apart, 1 apart", run_copy<float4, 1, 2, 1>},
    {"async copy, 16 bytes, rows of 1 from 3 apart, 1 apart", run_copy<float4, 1, 3, 1>},
    {"async copy, 16 bytes, rows of 1 from 8 apart, 1 apart", run_copy<float4, 1, 8, 1>},
    {"async copy, 8 bytes, rows of 4, 5 apart", run_copy<float2, 4, 4, 5>},
    {"async copy, 16 bytes, zeros from lane 20 on", run_zeros<20, 16>},
    {"async copy, 16 bytes, 8 zeros from lane 20 on", run_zeros<20, 8>, Difference::kCopies},
    {"wmma, bfloat16, rows times columns", run_product<Bf16, 16, 16, 16, row_major, col_major, kRows>},
    {"wmma, bfloat16, columns times rows", run_product<Bf16, 16, 16, 16, col_major, row_major, kColumns>},
    {"wmma, bfloat16, 32x8x16", run_product<Bf16, 32, 8, 16, row_major, col_major, kRows>},
    {"wmma, bfloat16, 8x32x16", run_product<Bf16, 8, 32, 16, row_major, col_major, kRows>},
    {"wmma, half, rows times columns", run_product<__half, 16, 16, 16, row_major, col_major, kRows>},
    {"wmma, half, columns times rows", run_product<__half, 16, 16, 16, col_major, row_major, kColumns>},
    {"wmma, half sums, by rows", run_product<__half, 16, 16, 16, row_major, col_major, kRows, __half>},
    {"wmma, half sums, by columns", run_product<__half, 16, 16, 16, row_major, col_major, kColumns, __half>},
    {"wmma, tf32, rows times columns", run_product<Tf32, 16, 16, 8, row_major, col_major, kRows>},
    {"wmma, tf32, columns times rows", run_product<Tf32, 16, 16, 8, col_major, row_major, kColumns>},
    {"wmma, shared, bfloat16, stride 16", run_shared_product<Bf16, 16, 16>},
    {"wmma, shared, bfloat16, stride 24", run_shared_product<Bf16, 16, 24>},
    {"wmma, shared, half, stride 16", run_shared_product<__half, 16, 16>},
    {"wmma, shared, half, stride 24", run_shared_product<__half, 16, 24>},
    {"wmma, shared, tf32, stride 8", run_shared_product<Tf32, 8, 8>},
    {"wmma, shared, tf32, stride 12", run_shared_product<Tf32, 8, 12>},
};

}  // namespace

CountedKernels counted_tensor_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace DEVICE::test_kernels
