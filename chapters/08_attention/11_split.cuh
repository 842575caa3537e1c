/// \file
/// Stage 11: split over the keys, for decoding: one query and many keys per head give too few blocks. Each
/// block has part of a query's keys, and a second kernel combines the parts (T. Dao and others,
/// Flash-Decoding, 2023).
#pragma once
#include "problem.cuh"
#include "row_vectors.hpp"
#include "sums.hpp"

namespace DEVICE::attention {

constexpr int kSplitThreads = 128;

// [part]
/// The result of a part of a row's keys: the largest exponent and the sum of the weights 2^(exponent -
/// largest). An empty part has -infinity and 0.
struct Part {
  float largest, sum;
};

/// The factor for the weights, and for the outputs, of a part when `largest` is that of all parts.
__device__ inline float part_factor(Part part, float largest) {
  return part.largest == -INFINITY ? 0.0f : exp2f(part.largest - largest);
}
// [part]

/// A lane's eight elements of a row of 2 d bytes, as floats.
__device__ inline void load_floats(float (&to)[8], uint4 bits) {
  Pack<__nv_bfloat16> eight;
  eight.bits = bits;
#pragma unroll
  for (int c = 0; c < 8; ++c) to[c] = to_float(eight.element[c]);
}

/// The row of k and of v that holds a key of a head: one after the other.
struct RowsInOrder {
  int keys;
  __device__ size_t operator()(int head, int key) const { return static_cast<size_t>(head) * keys + key; }
};

// [split]
/// For one query and `part_keys` of its keys: parts[row][part], and outputs[row][part][0, d) = the sum over
/// the keys of 2^(exponent - largest) * v, where d is at most D. One block per row of q (blockIdx.x) and part
/// (blockIdx.y). D / 8 lanes share a key, eight elements each, and have kAhead keys in flight. Traffic: each
/// block reads 4 d bytes per key, and each of its warps q.
template <int D, class Rows>
__global__ void __launch_bounds__(kSplitThreads)
    attend_to_part(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                   const __nv_bfloat16* __restrict__ v, float* __restrict__ outputs,
                   float2* __restrict__ parts, Sizes s, float scale, int part_keys, Rows row_of) {
  constexpr int kLanes = D / 8, kGroups = kSplitThreads / kLanes, kAhead = 4;
  alignas(16) __shared__ float of_groups[kGroups][D];
  __shared__ float2 part_of_group[kGroups];
  const int t = threadIdx.x, group = t / kLanes, i = t % kLanes * 8, left = s.d - i;
  const size_t row = blockIdx.x;
  const int first = blockIdx.y * part_keys, end = min(first + part_keys, s.keys);
  const int head = s.key_head(blockIdx.x / s.queries);
  const bool aligned = starts_vectors(k, s.d) && starts_vectors(v, s.d);
  float of_q[8], acc[8] = {}, numbers[8];
  load_floats(of_q, load_eight(q + row * s.d + i, left, starts_vectors(q, s.d)));
  Part mine = {-INFINITY, 0.0f};

  for (int first_key = first; first_key < end; first_key += kGroups * kAhead) {
    uint4 of_k[kAhead], of_v[kAhead];
    float exponents[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int key = first_key + a * kGroups + group;
      const size_t at = row_of(head, key) * s.d + i;
      of_k[a] = key < end ? load_eight(k + at, left, aligned) : uint4{};
      of_v[a] = key < end ? load_eight(v + at, left, aligned) : uint4{};
    }
    float largest = mine.largest;
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      load_floats(numbers, of_k[a]);
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < 8; ++c) score += of_q[c] * numbers[c];
#pragma unroll
      for (int distance = kLanes / 2; distance > 0; distance /= 2)
        score += __shfl_xor_sync(0xffffffffu, score, distance);
      const bool exists = first_key + a * kGroups + group < end;
      exponents[a] = exists ? score * (scale * 1.44269504f) : -INFINITY;
      largest = fmaxf(largest, exponents[a]);
    }
    const float base = largest == -INFINITY ? 0.0f : largest, rescale = exp2f(mine.largest - base);
    mine = {largest, mine.sum * rescale};
#pragma unroll
    for (int c = 0; c < 8; ++c) acc[c] *= rescale;
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const float weight = exp2f(exponents[a] - base);
      mine.sum += weight;
      load_floats(numbers, of_v[a]);
#pragma unroll
      for (int c = 0; c < 8; ++c) acc[c] += weight * numbers[c];
    }
  }

  store_four(&of_groups[group][i], acc, 4, true);
  store_four(&of_groups[group][i + 4], acc + 4, 4, true);
  if (i == 0) part_of_group[group] = make_float2(mine.largest, mine.sum);
  __syncthreads();
  // Each lane takes care of one group, the same in every warp.
  const int lane = t % 32;
  const float2 of_lane = part_of_group[lane % kGroups];
  const float largest = warp_max(of_lane.x), factor = part_factor({of_lane.x, of_lane.y}, largest);
  const float weights = warp_sum(lane < kGroups ? factor * of_lane.y : 0.0f);
  float sum = 0.0f;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const float factor_of_group = __shfl_sync(0xffffffffu, factor, g);
    if (t < D) sum += factor_of_group * of_groups[g][t];
  }
  const size_t part = row * gridDim.y + blockIdx.y;
  if (t < s.d) outputs[part * s.d + t] = sum;
  if (t == 0) parts[part] = make_float2(largest, weights);
}
// [split]

// [combine]
/// o[row] = the outputs of all `count` parts of a row, weighted and divided by the sum of all weights. One
/// block per row, one thread per element. Traffic: reads 4 d bytes per part, and each warp 8 bytes; writes 2
/// d bytes per row.
__global__ void combine(const float* __restrict__ outputs, const float2* __restrict__ parts,
                        __nv_bfloat16* __restrict__ o, int count, int d) {
  const size_t row = blockIdx.x;
  const int i = threadIdx.x;
  if (i >= d) return;
  Part all = {-INFINITY, 0.0f};
  float acc = 0.0f;
  for (int part = 0; part < count; ++part) {
    const float2 loaded = parts[row * count + part];
    const float largest = fmaxf(all.largest, loaded.x);
    const float old_factor = part_factor(all, largest), factor = part_factor({loaded.x, loaded.y}, largest);
    acc = acc * old_factor + factor * outputs[(row * count + part) * d + i];
    all = {largest, all.sum * old_factor + factor * loaded.y};
  }
  o[row * d + i] = from_float<__nv_bfloat16>(all.sum == 0.0f ? 0.0f : acc / all.sum);
}
// [combine]

// --- On the host ---

/// Both kernels, with `part_keys` keys in each part.
template <class Rows>
void attend_and_combine(const Data& data, int part_keys, Rows row_of, __nv_bfloat16* o) {
  const auto a = operands<BFloat16>(data);
  const auto all_rows = static_cast<unsigned>(rows(data.shape));
  const int count = ceil_div(a.sizes.keys, part_keys);
  float* const outputs = data[kPartOutputs];
  auto* const parts = reinterpret_cast<float2*>(data[kParts]);
  launch(a.sizes.d <= 64 ? attend_to_part<64, Rows> : attend_to_part<128, Rows>,
         dim3(all_rows, static_cast<unsigned>(count)), kSplitThreads, a.q, a.k, a.v, outputs, parts, a.sizes,
         a.scale, part_keys, row_of);
  launch(combine, all_rows, kSplitThreads, outputs, parts, o, count, a.sizes.d);
}

struct Split {
  static constexpr Stage row =
      kInBFloat16<Full>.with({.name = "11_split",
                              .idea = "split over the keys, for few queries and many keys",
                              .kernels = 2,
                              .needs = "at most 16 queries; d of at most 128"});
  static void run(const Data& data) {
    attend_and_combine(data, part_keys(data.shape), RowsInOrder{data.shape.dims[3]}, data[kHalfO<Full>]);
  }
  static Traffic traffic(const Shape& s) { return traffic(s, ceil_div(s.dims[3], part_keys(s))); }
  /// Four pairs share a sector, each stored by itself; each warp of combine() loads all pairs of its row.
  static Traffic traffic(const Shape& s, int parts) {
    const long long pairs = 32 * parts * rows(s), outputs = 4 * parts * q_elements(s);
    const long long of_q = 2 * kSplitThreads / 32 * parts * q_elements(s),
                    of_k = 4 * rows(s) * s.dims[3] * s.dims[4];
    const long long of_pairs = ceil_div(s.dims[4], 32) * pairs;
    return {
        of_q + of_k + outputs + of_pairs, pairs + outputs + 2 * q_elements(s),
        repeated(of_q, 2 * q_elements(s)) + repeated(of_k, 4 * k_elements(s)) + repeated(of_pairs, pairs / 4),
        pairs - pairs / 4};
  }
  /// Every query reads all keys for itself.
  static bool suits(const Shape& s) { return rows_fit(s) && s.dims[2] <= 16; }
};

}  // namespace DEVICE::attention
