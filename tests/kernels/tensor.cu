#include <math.h>

#include "device.hpp"
#include "tensor.hpp"
#include "tensor_types.hpp"

namespace DEVICE::test_kernels {
namespace {

namespace wmma = nvcuda::wmma;
using wmma::accumulator;
using wmma::col_major;
using wmma::matrix_a;
using wmma::matrix_b;
using wmma::row_major;

// --- Products of every type, shape and layout ---

template <class T>
struct Name;
template <>
struct Name<__half> {
  static constexpr const char* kText = "half";
};
template <>
struct Name<__nv_bfloat16> {
  static constexpr const char* kText = "bfloat16";
};
template <>
struct Name<wmma::precision::tf32> {
  static constexpr const char* kText = "tf32";
};

template <class Fragment>
__device__ inline void round_to_type(Fragment&) {}
template <class Use, class Layout>
__device__ inline void round_to_type(wmma::fragment<Use, 16, 16, 8, wmma::precision::tf32, Layout>& f) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
}

template <class T, int M, int N, int K, class LayoutA, class LayoutB, class Sum>
__global__ void product(const typename Storage<T>::Type* a, const typename Storage<T>::Type* b, Sum* out,
                        int tiles, int a_stride, int b_stride, int out_stride, wmma::layout_t out_layout) {
  wmma::fragment<matrix_a, M, N, K, T, LayoutA> fragment_a;
  wmma::fragment<matrix_b, M, N, K, T, LayoutB> fragment_b;
  wmma::fragment<accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, Sum(0.0f));
  for (int tile = 0; tile < tiles; ++tile) {
    wmma::load_matrix_sync(fragment_a, a + tile * K * (kByColumns<LayoutA> ? a_stride : 1), a_stride);
    wmma::load_matrix_sync(fragment_b, b + tile * K * (kByColumns<LayoutB> ? 1 : b_stride), b_stride);
    round_to_type(fragment_a);
    round_to_type(fragment_b);
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  }
  wmma::store_matrix_sync(out, sum, out_stride, out_layout);
}

// --- Which elements a lane holds ---

template <class Fragment>
__device__ inline void note_places(float* out, const Fragment& rows, const Fragment& columns) {
  for (int i = 0; i < 16; ++i)
    out[16 * threadIdx.x + i] = i < rows.num_elements
                                    ? 64.0f * static_cast<float>(rows.x[i]) + static_cast<float>(columns.x[i])
                                    : -1.0f;
}

template <class Fragment, class Number>
__global__ void places(const Number* rows, const Number* columns, int stride, float* out) {
  Fragment of_rows, of_columns;
  wmma::load_matrix_sync(of_rows, rows, stride);
  wmma::load_matrix_sync(of_columns, columns, stride);
  note_places(out, of_rows, of_columns);
}

template <class Fragment, class Number>
__global__ void accumulator_places(const Number* rows, const Number* columns, int stride,
                                   wmma::layout_t layout, float* out) {
  Fragment of_rows, of_columns;
  wmma::load_matrix_sync(of_rows, rows, stride, layout);
  wmma::load_matrix_sync(of_columns, columns, stride, layout);
  note_places(out, of_rows, of_columns);
}

template <class T, int M, int N, int K, class LayoutA, class LayoutB, class Sum, bool OutByColumns>
constexpr TensorCase tensor_case() {
  using Number = typename Storage<T>::Type;
  TensorCase c = {};
  c.number = Name<T>::kText;
  c.m = M;
  c.n = N;
  c.k = K;
  c.a_by_columns = kByColumns<LayoutA>;
  c.b_by_columns = kByColumns<LayoutB>;
  c.out_by_columns = OutByColumns;
  c.half_accumulator = sizeof(Sum) == 2;
  c.product = [](const void* a, const void* b, void* out, int tiles, int a_stride, int b_stride,
                 int out_stride) {
    launch(product<T, M, N, K, LayoutA, LayoutB, Sum>, 1, 32, static_cast<const Number*>(a),
           static_cast<const Number*>(b), static_cast<Sum*>(out), tiles, a_stride, b_stride, out_stride,
           OutByColumns ? wmma::mem_col_major : wmma::mem_row_major);
  };
  c.places_a = [](const void* rows, const void* columns, float* out) {
    launch(places<wmma::fragment<matrix_a, M, N, K, T, LayoutA>, Number>, 1, 32,
           static_cast<const Number*>(rows), static_cast<const Number*>(columns), kByColumns<LayoutA> ? M : K,
           out);
  };
  c.places_b = [](const void* rows, const void* columns, float* out) {
    launch(places<wmma::fragment<matrix_b, M, N, K, T, LayoutB>, Number>, 1, 32,
           static_cast<const Number*>(rows), static_cast<const Number*>(columns), kByColumns<LayoutB> ? K : N,
           out);
  };
  c.places_out = [](const void* rows, const void* columns, float* out) {
    launch(accumulator_places<wmma::fragment<accumulator, M, N, K, Sum>, Sum>, 1, 32,
           static_cast<const Sum*>(rows), static_cast<const Sum*>(columns), OutByColumns ? M : N,
           OutByColumns ? wmma::mem_col_major : wmma::mem_row_major, out);
  };
  return c;
}

using wmma::precision::tf32;

const TensorCase kCases[] = {
    tensor_case<__nv_bfloat16, 16, 16, 16, row_major, col_major, float, false>(),
    tensor_case<__nv_bfloat16, 16, 16, 16, row_major, row_major, float, false>(),
    tensor_case<__nv_bfloat16, 16, 16, 16, col_major, col_major, float, true>(),
    tensor_case<__nv_bfloat16, 16, 16, 16, col_major, row_major, float, true>(),
    tensor_case<__nv_bfloat16, 32, 8, 16, row_major, col_major, float, false>(),
    tensor_case<__nv_bfloat16, 32, 8, 16, col_major, row_major, float, true>(),
    tensor_case<__nv_bfloat16, 8, 32, 16, row_major, col_major, float, false>(),
    tensor_case<__nv_bfloat16, 8, 32, 16, col_major, row_major, float, true>(),
    tensor_case<__half, 16, 16, 16, row_major, col_major, float, false>(),
    tensor_case<__half, 16, 16, 16, col_major, row_major, float, true>(),
    tensor_case<__half, 16, 16, 16, row_major, col_major, __half, false>(),
    tensor_case<__half, 16, 16, 16, col_major, row_major, __half, true>(),
    tensor_case<__half, 32, 8, 16, row_major, col_major, float, false>(),
    tensor_case<__half, 32, 8, 16, col_major, row_major, __half, true>(),
    tensor_case<__half, 8, 32, 16, row_major, col_major, float, false>(),
    tensor_case<__half, 8, 32, 16, col_major, row_major, __half, true>(),
    tensor_case<__half, 8, 32, 16, row_major, row_major, __half, false>(),
    tensor_case<tf32, 16, 16, 8, row_major, col_major, float, false>(),
    tensor_case<tf32, 16, 16, 8, row_major, row_major, float, false>(),
    tensor_case<tf32, 16, 16, 8, col_major, col_major, float, true>(),
    tensor_case<tf32, 16, 16, 8, col_major, row_major, float, true>(),
};

// --- An epilogue on the elements ---

__device__ inline float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void bias_gelu_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* bias,
                                 float* out) {
  wmma::fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fragment_a;
  wmma::fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> fragment_b;
  wmma::fragment<accumulator, 16, 16, 16, float> sum, biases;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(fragment_a, a + k, 32);
    wmma::load_matrix_sync(fragment_b, b + k, 32);
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  }
  wmma::load_matrix_sync(biases, bias, 0, wmma::mem_row_major);  // every row is the same
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = gelu(sum.x[i] + biases.x[i]);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

// --- Asynchronous copies ---

constexpr int kTile = 16;

template <PipelineMistake Mistake>
__global__ void pipelined(const float* a, const float* b, float* c, int k) {
  __shared__ float tile_a[2][kTile][kTile];
  __shared__ float tile_b[2][kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x, n = gridDim.x * kTile;
  const int tiles = k / kTile;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&tile_a[tile % 2][y][x], &a[row * k + tile * kTile + x], sizeof(float));
      __pipeline_memcpy_async(&tile_b[tile % 2][y][x], &b[(tile * kTile + y) * n + column], sizeof(float));
    }
    if (Mistake != PipelineMistake::kNoCommit) __pipeline_commit();
  };

  float sum = 0;
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    if (Mistake == PipelineMistake::kBarrierBeforeWait) __syncthreads();
    if (Mistake != PipelineMistake::kNoWait)
      __pipeline_wait_prior(Mistake == PipelineMistake::kWaitForOlderStage ? 2 : 1);
    if (Mistake != PipelineMistake::kNoBarrierBehindWait && Mistake != PipelineMistake::kBarrierBeforeWait)
      __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[tile % 2][y][i] * tile_b[tile % 2][i][x];
    if (Mistake != PipelineMistake::kNoBarrierBeforeReuse) __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void filled(const char* in, char* out, int bytes) {
  __shared__ __align__(16) char s[32 * 16];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(s + t * bytes, in + t * bytes, bytes, t % (bytes + 1));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < bytes; ++i) out[t * bytes + i] = s[t * bytes + i];
}

template <CopyMistake Mistake>
__global__ void copy(const float* in, float4* out) {
  __shared__ float4 s[40];
  const int t = threadIdx.x;
  auto* target = reinterpret_cast<char*>(&s[t]);
  const auto* source = reinterpret_cast<const char*>(in + 4 * t);
  if (Mistake == CopyMistake::kMisalignedTarget) target += 8;
  if (Mistake == CopyMistake::kMisalignedSource) source += 4;
  if (Mistake == CopyMistake::kPastTheEnd) source += 16;
  if (Mistake == CopyMistake::kFromShared) source = reinterpret_cast<const char*>(&s[32]);
  __pipeline_memcpy_async(target, source, Mistake == CopyMistake::kTwelveBytes ? 12 : 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = s[t];
}

template <CopyMistake Mistake>
__global__ void sum_of_neighbours(const float* in, float* out) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  const float next = s[(t + 1) % 64];
  if (Mistake != CopyMistake::kNoBarrierBefore) __syncthreads();
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(float));
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  if (Mistake != CopyMistake::kNoBarrierBehind) __syncthreads();
  out[t] = next + s[t > 0 ? t - 1 : 0];
}

// --- Mistakes with fragments ---

template <FragmentMistake Mistake>
__global__ void through_shared(const __half* a, const __half* b, float* out) {
  constexpr int kStride = Mistake == FragmentMistake::kOddStride ? 20 : 24;
  __shared__ __align__(32) __half tile_a[16 * 24 + 16];
  __shared__ __align__(32) __half tile_b[16 * 24 + 16];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) {
    tile_a[i / 16 * kStride + i % 16] = a[i];
    tile_b[i / 16 * kStride + i % 16] = b[i];
  }
  if (Mistake != FragmentMistake::kNoBarrier) __syncwarp();

  wmma::fragment<matrix_a, 16, 16, 16, __half, row_major> fragment_a;
  wmma::fragment<matrix_b, 16, 16, 16, __half, col_major> fragment_b;
  wmma::fragment<accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  if (Mistake == FragmentMistake::kHalfOfTheWarp && t >= 16) return;
  const int start = Mistake == FragmentMistake::kMisaligned      ? 8
                    : Mistake == FragmentMistake::kAddressOfLane ? t / 16 * 16
                                                                 : 0;
  wmma::load_matrix_sync(fragment_a, tile_a + start, kStride);
  if (Mistake == FragmentMistake::kTwoBranches && t < 16) {
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  } else {
    wmma::load_matrix_sync(fragment_b, tile_b, kStride);
  }
  wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

/// Launches the one of the kernels that has the mistake.
template <class Mistake, Mistake... All, class Run>
void with(Mistake mistake, Run run) {
  ((mistake == All ? run.template operator()<All>() : void()), ...);
}

}  // namespace

TensorCases tensor_cases() { return {kCases, sizeof kCases / sizeof kCases[0]}; }

void bias_gelu(const void* a, const void* b, const float* bias, float* out) {
  launch(bias_gelu_kernel, 1, 32, static_cast<const __nv_bfloat16*>(a), static_cast<const __nv_bfloat16*>(b),
         bias, out);
}

void pipelined_product(const float* a, const float* b, float* c, int k, PipelineMistake mistake) {
  using enum PipelineMistake;
  const auto run = [&]<PipelineMistake M>() {
    launch(pipelined<M>, dim3(2, 2), dim3(kTile, kTile), a, b, c, k);
  };
  with<PipelineMistake, kNone, kNoWait, kNoCommit, kWaitForOlderStage, kNoBarrierBehindWait,
       kBarrierBeforeWait, kNoBarrierBeforeReuse>(mistake, run);
}

void filled_copies(const void* in, void* out, int bytes) {
  launch(filled, 1, 32, static_cast<const char*>(in), static_cast<char*>(out), bytes);
}

void copies(const float* in, float* out, CopyMistake mistake) {
  using enum CopyMistake;
  const auto run = [&]<CopyMistake M>() { launch(copy<M>, 1, 32, in, reinterpret_cast<float4*>(out)); };
  with<CopyMistake, kNone, kMisalignedSource, kMisalignedTarget, kTwelveBytes, kFromShared, kPastTheEnd>(
      mistake, run);
}

void neighbours(const float* in, float* out, CopyMistake mistake) {
  using enum CopyMistake;
  const auto run = [&]<CopyMistake M>() { launch(sum_of_neighbours<M>, 1, 64, in, out); };
  with<CopyMistake, kNone, kNoBarrierBefore, kNoBarrierBehind>(mistake, run);
}

void shared_product(const void* a, const void* b, float* out, FragmentMistake mistake) {
  using enum FragmentMistake;
  const auto run = [&]<FragmentMistake M>() {
    launch(through_shared<M>, 1, 32, static_cast<const __half*>(a), static_cast<const __half*>(b), out);
  };
  with<FragmentMistake, kNone, kHalfOfTheWarp, kTwoBranches, kOddStride, kMisaligned, kAddressOfLane,
       kNoBarrier>(mistake, run);
}

}  // namespace DEVICE::test_kernels
