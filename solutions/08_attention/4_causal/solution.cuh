/// \file
/// Exercise 08.4, causal: a causal mask for flash attention.
///
/// Solve 08.3 first, since the loop below is its solution.
///
/// The kernel below computes attention in one pass, and every query sees every key. With a causal mask, key j
/// is visible to query i only if j <= i + keys - queries: the last query sees all keys, and each query before
/// it one key less. Let the kernel apply this mask. Keys that are not visible have the weight 0, and a query
/// that sees no key at all, which happens where keys < queries, has zeros as its result. Tiles of keys that
/// no query of the block sees must not be loaded.
///
/// Goal: each block reads its queries once, and of k and v only the tiles of 32 keys that at least one of its
/// queries sees, once each; it writes 128 bytes per query.
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_causal {

/// Queries of a block, keys of a tile, and elements of a row of q, k, v and o: one for each lane of a warp.
constexpr int kTile = 32;

/// o[h][i] = the sum over the visible keys j of softmax(scale * q[h][i] * k[h])[j] * v[h][j]. q and o are
/// heads x queries x kTile, k and v are heads x keys x kTile. It is launched in blocks of 32 x 32 threads:
/// blockIdx.y is the head, blockIdx.x counts tiles of queries, and each warp has one query. A lane is one key
/// of the tile while scores are computed, and one element of the result while values are added.
__global__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                       float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_q[kTile][kTile], tile_k[kTile][kTile + 1], tile_v[kTile][kTile];
  __shared__ float weights[kTile][kTile];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * kTile + warp;
  const size_t first_query = static_cast<size_t>(blockIdx.y) * queries;
  const size_t first_key = static_cast<size_t>(blockIdx.y) * keys;
  const size_t at = (first_query + query) * kTile + lane;
  tile_q[warp][lane] = query < queries ? q[at] : 0.0f;
  float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
  // BEGIN SOLUTION
  const int block_end = (blockIdx.x + 1) * kTile, queries_end = min(block_end, queries);
  const int end = min(keys, queries_end + keys - queries);    // what the block's last query sees
  const int visible = min(keys, query + 1 + keys - queries);  // what this warp's query sees
  // SKELETON
  // // TODO: the mask.
  // const int end = keys, visible = keys;
  // END SOLUTION
  for (int first = 0; first < end; first += kTile) {
    const int key = first + warp;
    tile_k[warp][lane] = key < keys ? k[(first_key + key) * kTile + lane] : 0.0f;
    tile_v[warp][lane] = key < keys ? v[(first_key + key) * kTile + lane] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int i = 0; i < kTile; ++i) score += tile_q[warp][i] * tile_k[lane][i];
    score = first + lane < visible ? score * scale : -INFINITY;
    const float old_largest = largest;
    largest = fmaxf(largest, warp_max(score));
    const float rescale = expf(old_largest - largest), weight = expf(score - largest);
    weights[warp][lane] = weight;
    __syncwarp();
    sum = sum * rescale + weight;
    acc *= rescale;
    for (int j = 0; j < kTile; ++j) acc += weights[warp][j] * tile_v[j][lane];
    __syncthreads();  // every warp is done with the tiles
  }
  const float all = warp_sum(sum);
  // BEGIN SOLUTION
  // A query that sees no key has subtracted -inf from -inf, so its sums are NaN.
  if (query < queries) o[at] = visible > 0 ? acc / all : 0.0f;
  // SKELETON
  // if (query < queries) o[at] = acc / all;
  // END SOLUTION
}

}  // namespace DEVICE::attention_causal
