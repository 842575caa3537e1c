#include "counted.hpp"
#include "device.hpp"
#include "kernels.hpp"
#include "published/published.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kN = kCountedSize;

// --- Global memory ---

__global__ void odd_lanes(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2) out[i] = in[i];
}

__global__ void early_return(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
}

/// Every thread adds up `length` elements a grid apart.
__global__ void grid_stride(const float* in, float* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float sum = 0;
  for (int j = 0; j < length; ++j) sum += in[i + j * threads];
  out[i] = sum;
}

// [transpose]
/// out[c][r] = in[r][c] of 1024 x 1024, straight from memory to memory.
__global__ void transpose_plain(const float* in, float* out) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  out[c * 1024 + r] = in[r * 1024 + c];
}

/// The same through a tile in shared memory whose rows are `Pitch` apart.
template <int Pitch>
__global__ void transpose_tile(const float* in, float* out) {
  __shared__ float tile[32 * Pitch];
  const int c = blockIdx.x * 32, r = blockIdx.y * 32;
  tile[threadIdx.y * Pitch + threadIdx.x] = in[(r + threadIdx.y) * 1024 + c + threadIdx.x];
  __syncthreads();
  out[(c + threadIdx.y) * 1024 + r + threadIdx.x] = tile[threadIdx.x * Pitch + threadIdx.y];
}
// [transpose]

__global__ void distinct_atomics(float* out) { atomicAdd(&out[blockIdx.x * blockDim.x + threadIdx.x], 1.0f); }

// --- Shared memory: whole vectors, of which every element is used, or nvcc would load less ---

__device__ inline void set(float1& v, float x) { v.x = x; }
__device__ inline void set(float2& v, float x) { v = make_float2(x, x + 1); }
__device__ inline void set(float4& v, float x) { v = make_float4(x, x + 1, x + 2, x + 3); }
__device__ inline float sum(const float1& v) { return v.x; }
__device__ inline float sum(const float2& v) { return v.x + v.y; }
__device__ inline float sum(const float4& v) { return v.x + v.y + v.z + v.w; }

/// Lane i writes vector i * Stride and reads it back.
template <class Vector, int Stride>
__global__ void shared_stride(float* out) {
  __shared__ Vector s[32 * Stride];
  Vector value;
  set(value, threadIdx.x);
  s[threadIdx.x * Stride] = value;
  __syncthreads();
  value = s[threadIdx.x * Stride];
  out[blockIdx.x * 32 + threadIdx.x] = sum(value);
}

/// Groups of `Lanes` neighbours read one vector each; the first lane of a group has written it.
template <class Vector, int Lanes>
__global__ void shared_groups(float* out) {
  __shared__ Vector s[32];
  Vector value;
  set(value, threadIdx.x);
  if (threadIdx.x % Lanes == 0) s[threadIdx.x / Lanes] = value;
  __syncthreads();
  value = s[threadIdx.x / Lanes];
  out[blockIdx.x * 32 + threadIdx.x] = sum(value);
}

__global__ void shuffle_sum(const float* in, float* out) {
  __shared__ float warps[8];
  const int t = threadIdx.x;
  float sum = in[blockIdx.x * 256 + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < 8 ? warps[t] : 0.0f;
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t == 0) out[blockIdx.x] = sum;
}

template <class Vector, int Stride>
void run_stride(float*, float*, float*, float* out) {
  launch(shared_stride<Vector, Stride>, 1024, 32, out);
}
template <class Vector, int Lanes>
void run_groups(float*, float*, float*, float* out) {
  launch(shared_groups<Vector, Lanes>, 1024, 32, out);
}
template <int Stride>
void run_global_stride(float* a, float*, float*, float* out) {
  strided(a, out, kN / 32, Stride);
}

// Where the parts of `c` begin: a matrix of kRows sparse rows of 0 to kLongest elements, its offsets and its
// columns; kBinCount random numbers of bins, then kBinCount in turn.
constexpr int kRows = 8192, kLongest = 39, kColumns = 16384, kBinCount = 1 << 18;
constexpr int kRandomBins = 2 * kBinCount, kBinsInTurn = 3 * kBinCount;
static_assert(kColumns + kRows * kLongest <= kRandomBins && kBinsInTurn + kBinCount <= kN);

int* ints(float* words) { return reinterpret_cast<int*>(words); }

const CountedKernel kKernels[] = {
    {"mul", [](float* a, float* b, float*, float* out) { mul(a, b, out, kN); }},
    {"fma4", [](float* a, float* b, float* c, float* out) { fma4(a, b, c, out, kN); }},
    {"red", [](float* a, float*, float*, float* out) { red(a, out, kN); }},
    {"mul, one element off",
     [](float* a, float* b, float*, float* out) { mul(a + 1, b + 1, out + 1, kN - 1); }},
    {"stride 2", run_global_stride<2>},
    {"stride 4", run_global_stride<4>},
    {"stride 8", run_global_stride<8>},
    {"stride 16", run_global_stride<16>},
    {"stride 32", run_global_stride<32>},
    {"broadcast", [](float* a, float*, float*, float* out) { broadcast(a, out, kN); }},
    {"reversed", [](float* a, float*, float*, float* out) { reversed(a, out, kN); }},
    {"odd lanes", [](float* a, float*, float*, float* out) { launch(odd_lanes, kN / 256, 256, a, out); }},
    {"early return",
     [](float* a, float*, float*, float* out) { launch(early_return, kN / 256, 256, a, out, 1000003); }},
    {"grid stride", [](float* a, float*, float*, float* out) { launch(grid_stride, 128, 256, a, out, 32); }},
    {"rows", [](float* a, float*, float*, float* out) { rows(a, out, kN / 64, 64); }},
    {"transpose, plain", [](float* a, float*, float*,
                            float* out) { launch(transpose_plain, dim3(32, 32), dim3(32, 32), a, out); }},
    {"transpose, tile", [](float* a, float*, float*,
                           float* out) { launch(transpose_tile<32>, dim3(32, 32), dim3(32, 32), a, out); }},
    {"transpose, padded tile",
     [](float* a, float*, float*, float* out) {
       launch(transpose_tile<33>, dim3(32, 32), dim3(32, 32), a, out);
     }},
    {"distinct atomics",
     [](float*, float*, float*, float* out) { launch(distinct_atomics, kN / 256, 256, out); }},
    {"shuffle sum", [](float* a, float*, float*, float* out) { launch(shuffle_sum, kN / 256, 256, a, out); }},
    {"shared, 32 bits, stride 1", run_stride<float1, 1>},
    {"shared, 32 bits, stride 2", run_stride<float1, 2>},
    {"shared, 32 bits, stride 3", run_stride<float1, 3>},
    {"shared, 32 bits, stride 4", run_stride<float1, 4>},
    {"shared, 32 bits, stride 8", run_stride<float1, 8>},
    {"shared, 32 bits, stride 16", run_stride<float1, 16>},
    {"shared, 32 bits, stride 32", run_stride<float1, 32>},
    {"shared, 32 bits, stride 33", run_stride<float1, 33>},
    {"shared, 64 bits, stride 1", run_stride<float2, 1>},
    {"shared, 64 bits, stride 2", run_stride<float2, 2>},
    {"shared, 64 bits, stride 3", run_stride<float2, 3>},
    {"shared, 64 bits, stride 16", run_stride<float2, 16>},
    {"shared, 128 bits, stride 1", run_stride<float4, 1>},
    {"shared, 128 bits, stride 2", run_stride<float4, 2>},
    {"shared, 128 bits, stride 3", run_stride<float4, 3>},
    {"shared, 32 bits, 8 lanes a word", run_groups<float1, 8>},
    {"shared, 64 bits, 2 lanes a vector", run_groups<float2, 2>},
    {"shared, 64 bits, 4 lanes a vector", run_groups<float2, 4>},
    {"shared, 128 bits, 2 lanes a vector", run_groups<float4, 2>},
    {"shared, 128 bits, 4 lanes a vector", run_groups<float4, 4>},
    {"shared, 128 bits, 32 lanes a vector", run_groups<float4, 32>},
    {"reduction, modulo", [](float* a, float*, float*, float* out) { reduce_modulo(a, out, kN); }},
    {"reduction, strided index",
     [](float* a, float*, float*, float* out) { reduce_strided_index(a, out, kN); }},
    {"reduction, sequential", [](float* a, float*, float*, float* out) { reduce_sequential(a, out, kN); }},
    {"reduction, first add", [](float* a, float*, float*, float* out) { reduce_first_add(a, out, kN); }},
    {"reduction, unrolled warp",
     [](float* a, float*, float*, float* out) { reduce_unrolled_warp(a, out, kN); }},
    {"reduction, butterfly", [](float* a, float*, float*, float* out) { reduce_butterfly(a, out, kN); }},
    {"LayerNorm, a block a row",
     [](float* a, float* b, float*, float* out) { layer_norm_block(a, b, b + 1024, out, 512, 1024); }},
    {"LayerNorm, a block a row of 1001",
     [](float* a, float* b, float*, float* out) { layer_norm_block(a, b, b + 1024, out, 512, 1001); },
     Difference::kApproximate},
    {"LayerNorm, a warp a row",
     [](float* a, float* b, float*, float* out) { layer_norm_warp(a, b, b + 1024, out, 512, 1024); }},
    {"LayerNorm, a warp a row of 1001",
     [](float* a, float* b, float*, float* out) { layer_norm_warp(a, b, b + 1024, out, 512, 1001); },
     Difference::kUnrolled},
    {"RMSNorm, float4", [](float* a, float* b, float*, float* out) { rms_norm(a, b, out, 1024, 1024); }},
    {"online softmax, a warp a row",
     [](float* a, float*, float*, float* out) { online_softmax_warp(a, out, 512, 1024); }},
    {"online softmax, a block a row",
     [](float* a, float*, float*, float* out) { online_softmax_block(a, out, 512, 1024); }},
    {"product, naive",
     [](float* a, float* b, float*, float* out) { product_naive(a, b, out, 128, 128, 128); }},
    {"product, naive, ragged",
     [](float* a, float* b, float*, float* out) { product_naive(a, b, out, 100, 75, 77); }},
    {"product, tiles of 32x32",
     [](float* a, float* b, float*, float* out) { product_tiled(a, b, out, 256, 256, 256); },
     Difference::kSharedMerged},
    {"product, tiles of 32x32, ragged",
     [](float* a, float* b, float*, float* out) { product_tiled(a, b, out, 100, 75, 77); },
     Difference::kSharedMerged},
    {"product, registers",
     [](float* a, float* b, float*, float* out) { product_registers(a, b, out, 256, 256, 256); },
     Difference::kSharedMerged},
    {"product, registers, float4",
     [](float* a, float* b, float*, float* out) { product_registers_wide(a, b, out, 256, 256, 256); }},
    {"product, registers, float4, ragged",
     [](float* a, float* b, float*, float* out) { product_registers_wide(a, b, out, 100, 76, 84); }},
    {"guarded in turn", [](float* a, float*, float*, float* out) { guard_in_turn(a, out, 8192, 32); },
     Difference::kApproximate},
    {"guarded at random",
     [](float* a, float*, float* c, float* out) { guard_by_mask(a, ints(c) + kRandomBins, out, 8192, 32); },
     Difference::kApproximate},
    {"search with break",
     [](float* a, float*, float*, float* out) { first_above(a, 0.9f, ints(out), 8192, 32); },
     Difference::kApproximate},
    {"ragged rows", [](float* a, float*, float* c, float* out) { ragged_row_sums(ints(c), a, out, kRows); },
     Difference::kApproximate},
    {"CSR, a thread a row",
     [](float* a, float* b, float* c,
        float* out) { csr_thread(ints(c), ints(c) + kColumns, a, b, out, kRows); },
     Difference::kUnrolled},
    {"CSR, a warp a row",
     [](float* a, float* b, float* c,
        float* out) { csr_warp(ints(c), ints(c) + kColumns, a, b, out, kRows); },
     Difference::kApproximate},
    {"load in both branches", [](float* a, float*, float*, float* out) { load_in_both_branches(a, out, kN); },
     Difference::kGlobalMerged},
    {"histogram, global, at random",
     [](float*, float*, float* c,
        float* out) { histogram_global(ints(c) + kRandomBins, ints(out), kBinCount); },
     Difference::kContended},
    {"histogram, global, in turn",
     [](float*, float*, float* c,
        float* out) { histogram_global(ints(c) + kBinsInTurn, ints(out), kBinCount); }},
    {"histogram, shared, at random",
     [](float*, float*, float* c,
        float* out) { histogram_shared(ints(c) + kRandomBins, ints(out), kBinCount); }},
    {"histogram, shared, in turn",
     [](float*, float*, float* c,
        float* out) { histogram_shared(ints(c) + kBinsInTurn, ints(out), kBinCount); }},
    {"count each", [](float*, float*, float*, float* out) { count_each(ints(out), kN); }},
    {"count each, ticket",
     [](float*, float*, float*, float* out) { count_each_ticket(ints(out), ints(out) + kN / 2, kN / 2); }},
    {"count all", [](float*, float*, float*, float* out) { count_all(ints(out), kN / 4); },
     Difference::kContended},
    {"count all, ticket",
     [](float*, float*, float*, float* out) { count_all_ticket(ints(out), ints(out) + 32, kN / 4); },
     Difference::kContended},
    {"add all", [](float* a, float*, float*, float* out) { add_all(a, out, kN / 4); },
     Difference::kContended},
};

/// Numbers that look random: the high bits of the generator of "Numerical Recipes".
struct Numbers {
  unsigned state;

  int below(int limit) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>(static_cast<unsigned long long>(state) * limit >> 32);
  }
};

constexpr int kSteps = 1 << 20;  // of the floats between -1 and 1

}  // namespace

void counted_inputs(float* a, float* b, int* c) {
  Numbers numbers{1};
  for (int i = 0; i < kN; ++i) {
    a[i] = 2.0f * numbers.below(kSteps) / kSteps - 1.0f;
    b[i] = 2.0f * numbers.below(kSteps) / kSteps - 1.0f;
    c[i] = 0;
  }
  for (int row = 0; row < kRows; ++row) c[row + 1] = c[row] + numbers.below(kLongest + 1);
  for (int i = 0; i < c[kRows]; ++i) c[kColumns + i] = numbers.below(kN);
  for (int i = 0; i < kBinCount; ++i) {
    c[kRandomBins + i] = numbers.below(kBins);
    c[kBinsInTurn + i] = i % kBins;
  }
}

CountedKernels counted_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace DEVICE::test_kernels
