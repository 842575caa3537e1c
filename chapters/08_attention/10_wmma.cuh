/// \file
/// Stage 10: bfloat16 on the tensor cores, by wmma. Which lane holds which element of a fragment is up to the
/// hardware, so scores, weights and, when they must be rescaled, outputs go through shared memory.
#pragma once
#include "problem.cuh"
#include "row_vectors.hpp"
#include "tensor_tiles.cuh"

namespace DEVICE::attention {

// [wmma tiles]
/// Tiles in bfloat16, one row of 2 D bytes and a padding of 16 bytes per query or key, and what each warp
/// needs for its 16 queries: 54 or 78 KiB.
template <int D>
struct WmmaTiles {
  HalfRow<D> q[kHalfQueries], k[kHalfKeys], v[kHalfKeys];
  float staging[kHalfWarps][kFragment][kHalfKeys + 8];
  __nv_bfloat16 p[kHalfWarps][kFragment][kHalfKeys + 8];
};
// [wmma tiles]

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
namespace wmma = nvcuda::wmma;
using Accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
using QueryFragment = wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major>;
using KeyFragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major>;
using ValueFragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major>;

// [wmma rescale]
/// Multiplies the rows of a warp's outputs by `factor`, which lanes 2 r and 2 r + 1 have for row r.
template <int kFragments, int kPitch>
__device__ inline void rescale(Accumulator (&o)[kFragments], float (*staging)[kPitch], float factor) {
  const int row = threadIdx.x % 32 / 2, column = threadIdx.x % 2 * 8;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    __syncwarp();  // every lane is done with the staging
    wmma::store_matrix_sync(&staging[0][0], o[f], kPitch, wmma::mem_row_major);
    __syncwarp();
    float eight[8];
    load_two_fours(eight, &staging[row][column], 4);
#pragma unroll
    for (float& element : eight) element *= factor;
    store_four(&staging[row][column], eight, 4, true);
    store_four(&staging[row][column + 4], eight + 4, 4, true);
    __syncwarp();
    wmma::load_matrix_sync(o[f], &staging[0][0], kPitch, wmma::mem_row_major);
  }
}
// [wmma rescale]
#endif

/// Four weights, stored together.
union Four {
  uint2 bits;
  __nv_bfloat162 pair[2];
  __device__ Four(const float (&weights)[kHalfKeys / 2], int first) : bits() {
    pair[0] = __floats2bfloat162_rn(weights[first], weights[first + 1]);
    pair[1] = __floats2bfloat162_rn(weights[first + 2], weights[first + 3]);
  }
};

// [wmma]
/// o[h][i] = the sum over j of softmax(scale * q[h][i] * k[key_head(h)])[j] * v[key_head(h)][j], over the
/// keys that query i sees, where d is at most D. Scores, softmax and outputs are float32, weights are rounded
/// to bfloat16 before the second product. One block of kHalfThreads threads per head and kHalfQueries
/// queries, each warp with 16 of them. Traffic: each block reads its queries once and its keys and values
/// once, and writes 2 d bytes per query.
template <int D, class Mask>
__global__ void __launch_bounds__(kHalfThreads)
    flash_by_wmma(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                  const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o, Sizes s, float scale) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  auto& tiles = *dynamic_shared<WmmaTiles<D>>();
  const HalfPlace at = half_place_of<Mask>(s, blockIdx.x);
  const int warp = threadIdx.x / 32, row = threadIdx.x % 32 / 2, in_eight = threadIdx.x % 2 * 4;
  auto* staging = tiles.staging[warp];
  auto* p = tiles.p[warp];
  copy_half_rows<D>(tiles.q, q + at.q_start, at.first, s.queries, s.d);
  HalfSoftmax softmax(scale);
  Accumulator of_o[D / kFragment];
#pragma unroll
  for (auto& fragment : of_o) wmma::fill_fragment(fragment, 0.0f);

  for (int first_key = 0; first_key < at.end; first_key += kHalfKeys) {
    copy_half_rows<D>(tiles.k, k + at.k_start, first_key, s.keys, s.d);
    copy_half_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
#pragma unroll
    for (int f = 0; f < kHalfKeys / kFragment; ++f) {
      Accumulator scores;
      wmma::fill_fragment(scores, 0.0f);
#pragma unroll
      for (int i = 0; i < D; i += kFragment) {
        QueryFragment of_q;
        KeyFragment of_k;
        wmma::load_matrix_sync(of_q, &tiles.q[warp * kFragment][i], D + 8);
        wmma::load_matrix_sync(of_k, &tiles.k[f * kFragment][i], D + 8);
        wmma::mma_sync(scores, of_q, of_k, scores);
      }
      wmma::store_matrix_sync(&staging[0][f * kFragment], scores, kHalfKeys + 8, wmma::mem_row_major);
    }
    __syncwarp();

    // Two lanes share a row: of each eight scores, the one takes the first four, the other the last four.
    const int visible = Mask::visible(s, at.first + warp * kFragment + row) - first_key;
    float scores[kHalfKeys / 2];
#pragma unroll
    for (int e = 0; e < kHalfKeys / 8; ++e) {
      const int column = 8 * e + in_eight;
      const float4 four = *reinterpret_cast<const float4*>(&staging[row][column]);
      scores[4 * e] = column < visible ? four.x : -INFINITY;
      scores[4 * e + 1] = column + 1 < visible ? four.y : -INFINITY;
      scores[4 * e + 2] = column + 2 < visible ? four.z : -INFINITY;
      scores[4 * e + 3] = column + 3 < visible ? four.w : -INFINITY;
    }
    const float factor = softmax.next_base(scores);
    if (__any_sync(0xffffffffu, factor != 1.0f)) rescale(of_o, staging, factor);
    softmax.to_weights(scores);
#pragma unroll
    for (int e = 0; e < kHalfKeys / 8; ++e)
      *reinterpret_cast<uint2*>(&p[row][8 * e + in_eight]) = Four(scores, 4 * e).bits;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kHalfKeys; j += kFragment) {
      QueryFragment of_p;
      wmma::load_matrix_sync(of_p, &p[0][j], kHalfKeys + 8);
#pragma unroll
      for (int f = 0; f < D / kFragment; ++f) {
        ValueFragment of_v;
        wmma::load_matrix_sync(of_v, &tiles.v[j][f * kFragment], D + 8);
        wmma::mma_sync(of_o[f], of_p, of_v, of_o[f]);
      }
    }
    __syncthreads();  // every warp is done with the tiles of k and v
  }

  const float factor = softmax.factor();
  const bool aligned = starts_vectors(o, s.d);
  const int query = at.first + warp * kFragment + row;
#pragma unroll
  for (int f = 0; f < D / kFragment; ++f) {
    wmma::store_matrix_sync(&staging[0][0], of_o[f], kHalfKeys + 8, wmma::mem_row_major);
    __syncwarp();
    const int column = f * kFragment + 2 * in_eight;
    float sums[8];
    load_two_fours(sums, &staging[row][2 * in_eight], 4);
    Pack<__nv_bfloat16> eight;
#pragma unroll
    for (int c = 0; c < 8; ++c) eight.element[c] = from_float<__nv_bfloat16>(sums[c] * factor);
    if (query < s.queries)
      store_eight(o + at.q_start + static_cast<size_t>(query) * s.d + column, eight, s.d - column, aligned);
    __syncwarp();  // before the next fragment overwrites this one
  }
#endif
}
// [wmma]

// --- On the host ---

template <class Mask>
struct Wmma {
  static constexpr Stage row = kInBFloat16<Mask>.with(
      {.name = Mask::kCausal ? "10_causal" : "10_wmma",
       .idea = Mask::kCausal ? "the same with a causal mask" : "bfloat16 on the tensor cores, by wmma",
       .against = Mask::kCausal ? "09_masked" : nullptr});
  static void run(const Data& data) {
    const auto a = operands<BFloat16>(data);
    const bool narrow = a.sizes.d <= 64;
    launch_shared(narrow ? flash_by_wmma<64, Mask> : flash_by_wmma<128, Mask>, half_tiles(a.sizes),
                  kHalfThreads, narrow ? sizeof(WmmaTiles<64>) : sizeof(WmmaTiles<128>), a.q, a.k, a.v,
                  data[kHalfO<Mask>], a.sizes, a.scale);
  }
  static Traffic traffic(const Shape& s) { return half_flash_traffic<Mask>(s, kHalfQueries, kHalfKeys); }
  static bool suits(const Shape& s) { return rows_fit(s); }
};

}  // namespace DEVICE::attention
