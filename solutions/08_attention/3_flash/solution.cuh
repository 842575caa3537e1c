/// \file
/// Exercise 08.3, flash: attention that stores no score.
///
/// o[i] = the sum over j of softmax(scale * q[i] * k)[j] * v[j], for each head. A block has 32 queries of one
/// head, one per warp, and takes the keys 32 at a time. It loads a tile of k and one of v, and each lane
/// computes the score of one key. Then the warp turns its 32 scores into weights and adds 32 weighted rows of
/// v to its row of o. The code below is right if there are exactly 32 keys. With more keys, it forgets all
/// tiles before the last one. With fewer, the scores of keys that do not exist count too.
///
/// Finish the loop: keep the largest score so far, and when it grows, rescale what has been summed up. The
/// check has queries whose scores are around 350 and around -350, and some whose scores grow or fall from
/// tile to tile. Numbers of queries and keys are not always multiples of 32; there is at least one of each.
///
/// Goal: each block reads its queries once, and k and v of its head once. That is 128 bytes per query, and
/// 256 bytes per key for each tile of queries. 128 bytes are written per query. The work is spread over the
/// grid.
#pragma once
#include "device.hpp"
#include "sums.hpp"  // warp_max() and warp_sum(): over the 32 lanes of a warp, in every lane

namespace DEVICE::attention_flash {

constexpr int kTile = 32;      // queries of a block, and keys of a tile
constexpr int kElements = 32;  // of a row of q, k, v and o: one per lane

/// q and o are heads x queries x kElements, k and v are heads x keys x kElements. Blocks of 32 x 32 threads;
/// blockIdx.x counts tiles of queries, blockIdx.y heads.
__global__ void flash(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ o, int queries, int keys, float scale) {
  __shared__ float tile_q[kTile][kElements], tile_k[kTile][kElements + 1], tile_v[kTile][kElements];
  const int lane = threadIdx.x, warp = threadIdx.y, query = blockIdx.x * kTile + warp;
  const size_t of_query = (static_cast<size_t>(blockIdx.y) * queries + query) * kElements + lane;
  const size_t of_head = static_cast<size_t>(blockIdx.y) * keys * kElements;
  tile_q[warp][lane] = query < queries ? q[of_query] : 0.0f;

  float most = -INFINITY, sum = 0.0f;  // of the query: its largest score so far; in each lane, of its keys:
                                       // the sum of exp(score - most)
  float acc = 0.0f;                    // element `lane` of the query's row of o, still to be divided
  for (int first = 0; first < keys; first += kTile) {
    const int key = first + warp;
    const size_t of_key = of_head + static_cast<size_t>(key) * kElements + lane;
    tile_k[warp][lane] = key < keys ? k[of_key] : 0.0f;
    tile_v[warp][lane] = key < keys ? v[of_key] : 0.0f;
    __syncthreads();
    float score = 0.0f;  // of key first + lane
    for (int i = 0; i < kElements; ++i) score += tile_q[warp][i] * tile_k[lane][i];
    score *= scale;
    // BEGIN SOLUTION
    if (first + lane >= keys) score = -INFINITY;
    const float larger = fmaxf(most, warp_max(score));
    const float rescale = expf(most - larger), weight = expf(score - larger);
    most = larger;
    sum = sum * rescale + weight;
    acc *= rescale;
    // SKELETON
    // // TODO: more tiles than one, and a last tile that is not full.
    // most = warp_max(score);
    // const float weight = expf(score - most);
    // sum = weight;
    // acc = 0.0f;
    // END SOLUTION
    for (int j = 0; j < kTile; ++j) acc += __shfl_sync(0xffffffffu, weight, j) * tile_v[j][lane];
    __syncthreads();
  }
  sum = warp_sum(sum);
  if (query < queries) o[of_query] = acc / sum;
}

}  // namespace DEVICE::attention_flash
