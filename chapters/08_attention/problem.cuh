/// \file
/// Chapter 08: what its stages share: the arrays, the inputs, the references, and how far results may be off.
#pragma once
#include <math.h>

#include "attention.hpp"
#include "ceil_div.hpp"
#include "chapter.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"

namespace DEVICE::attention {

using namespace workbook;

// [sizes]
/// The sizes of a problem. q is heads x queries x d; k and v are key_heads x keys x d; all are contiguous.
/// The batch is part of the heads: head h of sequence b is head b * heads per sequence + h.
struct Sizes {
  int heads, key_heads, queries, keys, d;

  /// The head of k and v that head h of q reads: heads that share one stand side by side.
  __host__ __device__ int key_head(int h) const {
    return static_cast<int>(static_cast<long long>(h) * key_heads / heads);
  }
};
// [sizes]

// [masks]
/// Every query sees all keys.
struct Full {
  static constexpr bool kCausal = false;
  /// How many keys a query sees: the first ones.
  __host__ __device__ static int visible(Sizes s, int) { return s.keys; }
};

/// The last query sees all keys, and each query before it one key less. A query that comes too early to see
/// any key has zeros as its result.
struct Causal {
  static constexpr bool kCausal = true;
  __host__ __device__ static int visible(Sizes s, int query) {
    const int count = query + 1 + s.keys - s.queries;
    return count < 0 ? 0 : count < s.keys ? count : s.keys;
  }
};
// [masks]

/// The most elements of a row of q, k, v and o: in shared memory rows are padded with zeros to 64 or 128.
constexpr int kMostElements = 128;

// --- Arrays ---

inline Sizes sizes(const Shape& s) { return {s.dims[0], s.dims[1], s.dims[2], s.dims[3], s.dims[4]}; }
inline long long rows(const Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[2]; }
inline long long q_elements(const Shape& s) { return rows(s) * s.dims[4]; }
inline long long k_elements(const Shape& s) {
  return static_cast<long long>(s.dims[1]) * s.dims[3] * s.dims[4];
}
inline long long all_scores(const Shape& s) { return rows(s) * s.dims[3]; }

/// Shapes whose scores fit into memory, and those whose scores are also compared with a reference.
inline bool scores_fit(const Shape& s) { return all_scores(s) <= 1 << 30; }
inline bool scores_are_compared(const Shape& s) { return all_scores(s) <= 1 << 28; }
inline long long scratch_scores(const Shape& s) { return scores_fit(s) ? all_scores(s) : 0; }
inline long long compared_scores(const Shape& s) { return scores_are_compared(s) ? all_scores(s) : 0; }

/// Most tiles of the kernels hold whole rows of q and k.
inline bool rows_fit(const Shape& s) { return s.dims[4] <= kMostElements; }

/// Parts into which stage 11 splits the keys of a query, at most: enough blocks for a large GPU, and about 64
/// keys or more in each.
inline int part_count(const Shape& s) {
  const long long wanted = 512 / rows(s), most = ceil_div(s.dims[3], 64);
  return static_cast<int>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}
inline int part_keys(const Shape& s) { return ceil_div(s.dims[3], part_count(s)); }

/// Elements of the outputs of all parts, and of their pairs of a maximum and a sum.
inline long long split_outputs(const Shape& s) { return part_count(s) * q_elements(s); }
inline long long split_parts(const Shape& s) { return 2 * part_count(s) * rows(s); }

// [pages]
/// Where texts grow, k and v are kept in pages of so many keys, wherever there was room (W. Kwon and others,
/// PagedAttention, 2023, arXiv 2309.06180). page_table[h * pages + j] is the page with the keys from
/// j * kPageKeys on of head h; the pages of all heads are mixed.
constexpr int kPageKeys = 64;
// [pages]
inline bool has_pages(const Shape& s) { return s.dims[3] % kPageKeys == 0 && s.dims[2] <= 16 && rows_fit(s); }
inline long long page_count(const Shape& s) {
  return has_pages(s) ? static_cast<long long>(s.dims[1]) * (s.dims[3] / kPageKeys) : 0;
}
inline long long paged_outputs(const Shape& s) { return has_pages(s) ? q_elements(s) : 0; }

/// Parts of whole pages, at most part_count() of them.
inline int paged_part_keys(const Shape& s) { return ceil_div(part_keys(s), kPageKeys) * kPageKeys; }

using BFloat16 = __nv_bfloat16;

// Of float and BFloat16.
template <class T>
constexpr auto kQ = input<T>(kIsFloat<T> ? "q" : "q_bfloat16", q_elements);
template <class T>
constexpr auto kK = input<T>(kIsFloat<T> ? "k" : "k_bfloat16", k_elements);
template <class T>
constexpr auto kV = input<T>(kIsFloat<T> ? "v" : "v_bfloat16", k_elements);

constexpr auto kPageTable = input<unsigned>("page_table", page_count);
constexpr auto kScores = scratch<float>("scores", scratch_scores);
constexpr auto kPartOutputs = scratch<float>("part_outputs", split_outputs);
constexpr auto kParts = scratch<float>("parts", split_parts);

inline float scale_of(int d) { return static_cast<float>(1 / sqrt(static_cast<double>(d))); }

/// What attention is computed from, in the type T.
template <class T>
struct Operands {
  Sizes sizes;
  float scale;  ///< 1 / sqrt(d)
  const T *q, *k, *v;
};

template <class T>
Operands<T> operands(const Data& data) {
  return {sizes(data.shape), scale_of(data.shape.dims[4]), data[kQ<T>], data[kK<T>], data[kV<T>]};
}

// --- How far results may be off, in roundings of what the references call magnitude ---

/// Errors of successive additions are as often positive as negative: 6 sqrt(n) roundings bound the sum of n
/// of them with a probability close to 1 (N. Higham, T. Mary, A new approach to probabilistic rounding error
/// analysis, 2019). Scores are sums of d products, weights are divided by a sum over the keys, and outputs
/// are sums over the keys. The rest is for the exponential function, at most 2 ulps (CUDA C++ Programming
/// Guide), and for what is rescaled.
inline int float_roundings(const Shape& s) {
  const double keys = s.dims[3], d = s.dims[4];
  return 6 * static_cast<int>(ceil(sqrt(d)) + 2 * ceil(sqrt(keys))) + 40;
}

/// Tensor cores truncate when they add, always towards zero, so their errors accumulate (M. Fasi, N. Higham,
/// M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, 2021).
inline int tensor_roundings(const Shape& s) { return s.dims[3] + s.dims[4] + float_roundings(s); }

/// A weight that is rounded to bfloat16 is off by 2^-8 at most, and by less than 2^-9 in the quadratic mean,
/// which is what counts in a sum of many.
constexpr double kWeightRoundings = 1 << 15;

/// On exact inputs, a weight is 1 / count, and an output is a whole number divided by count.
inline int exact_roundings(const Shape&) { return 3; }

/// Where weights are divided before they are multiplied by v, the sums over the keys are rounded.
inline int exact_sum_roundings(const Shape& s) { return 6 * static_cast<int>(ceil(sqrt(s.dims[3]))) + 4; }

// --- Inputs ---

/// Scores that float32 holds exactly, and whose exponential is 1 or 0: the last key, and every second one
/// before it, is all zeros, so its scores are 0; the others have a single -1, at one element after the other,
/// so their scores are below -1400. With whole numbers in v, no sum is rounded.
inline void fill_exact(const Data& host) {
  const int keys = host.shape.dims[3], d = host.shape.dims[4];
  float *const q = host[kQ<float>], *const k = host[kK<float>];
  fill_whole(q, q_elements(host.shape), 1, 81);
  for (long long i = 0; i < q_elements(host.shape); ++i) q[i] = 16384.0f * (2 + q[i]);
  for (long long i = 0; i < k_elements(host.shape); ++i) {
    const long long row = i / d, key = row % keys;
    k[i] = (keys - key) % 2 == 0 && i % d == (row / 2) % d ? -1.0f : 0.0f;
  }
  fill_whole(host[kV<float>], k_elements(host.shape), 7, 83);
}

/// Sums of at most 7 per key stay below 2^24.
inline bool has_exact_inputs(const Shape& s) { return s.dims[3] <= 1 << 21; }

/// Arrays in bfloat16 hold those in float32, rounded.
inline void round_to(__nv_bfloat16* to, const float* from, long long count) {
  on_all_cores((count + 65535) / 65536, [&](long long part) {
    for (long long i = part * 65536; i < count && i < (part + 1) * 65536; ++i)
      to[i] = from_float<__nv_bfloat16>(from[i]);
  });
}

/// Every page has one entry, in an order that does not depend on the inputs.
inline void fill_page_table(const Data& host) {
  auto* const table = host[kPageTable];
  const auto count = static_cast<unsigned>(page_count(host.shape));
  unsigned state = 85;
  for (unsigned i = 0; i < count; ++i) {  // R. Durstenfeld's shuffle, from the inside out
    state = 1664525u * state + 1013904223u;
    const unsigned j = (state >> 8) % (i + 1);
    table[i] = table[j];
    table[j] = i;
  }
}

/// Scores have a variance of about 2, whatever d is; keys have an offset, so that their mean is not zero.
inline void fill(const Data& host) {
  const long long of_q = q_elements(host.shape), of_k = k_elements(host.shape);
  if (host.exact) {
    fill_exact(host);
  } else {
    fill_uniform(host[kQ<float>], of_q, -2.5f, 2.5f, 81);
    fill_uniform(host[kK<float>], of_k, -1.5f, 2.0f, 82);
    fill_uniform(host[kV<float>], of_k, -1.0f, 2.0f, 83);
  }
  round_to(host[kQ<__nv_bfloat16>], host[kQ<float>], of_q);
  round_to(host[kK<__nv_bfloat16>], host[kK<float>], of_k);
  round_to(host[kV<__nv_bfloat16>], host[kV<float>], of_k);
  fill_page_table(host);
}

// --- References ---

template <class T>
Attention problem(const Data& host, bool causal) {
  const auto a = operands<T>(host);
  const Sizes s = a.sizes;
  return {a.q, a.k, a.v, kTypeOf<T>, s.heads, s.key_heads, s.queries, s.keys, s.d, causal, host.exact};
}

template <class Mask>
void reference_weights(const Data& host, double* expected, double* magnitude) {
  attention_weights(problem<float>(host, Mask::kCausal), expected, magnitude);
}

inline void reference_bfloat16_weights(const Data& host, double* expected, double* magnitude) {
  attention_weights(problem<__nv_bfloat16>(host, false), expected, magnitude);
}

template <class Mask>
void reference_output(const Data& host, double* expected, double* magnitude) {
  attention_output(problem<float>(host, Mask::kCausal), 0, 1, expected, magnitude);
}

template <class Mask>
void reference_bfloat16(const Data& host, double* expected, double* magnitude) {
  attention_output(problem<__nv_bfloat16>(host, Mask::kCausal), kWeightRoundings,
                   tensor_roundings(host.shape), expected, magnitude);
}

inline void reference_paged(const Data& host, double* expected, double* magnitude) {
  Attention paged = problem<__nv_bfloat16>(host, false);
  paged.page_table = host[kPageTable];
  paged.page_keys = kPageKeys;
  attention_output(paged, kWeightRoundings, tensor_roundings(host.shape), expected, magnitude);
}

// With the mask.
template <class Mask>
constexpr auto kP = output<float>(Mask::kCausal ? "p_causal" : "p", compared_scores, reference_weights<Mask>,
                                  {&kQ<float>, &kK<float>});
template <class Mask>
constexpr auto kO = output<float>(Mask::kCausal ? "o_causal" : "o", q_elements, reference_output<Mask>,
                                  {&kQ<float>, &kK<float>, &kV<float>});
template <class Mask>
constexpr auto kHalfO = output<BFloat16>(Mask::kCausal ? "o_causal_bfloat16" : "o_bfloat16", q_elements,
                                         reference_bfloat16<Mask>,
                                         {&kQ<BFloat16>, &kK<BFloat16>, &kV<BFloat16>});

constexpr auto kHalfP = output<BFloat16>("p_bfloat16", compared_scores, reference_bfloat16_weights,
                                         {&kQ<BFloat16>, &kK<BFloat16>});
constexpr auto kOPaged = output<BFloat16>("o_paged", paged_outputs, reference_paged,
                                          {&kQ<BFloat16>, &kK<BFloat16>, &kV<BFloat16>, &kPageTable});

constexpr const Array* kArrays[] = {&kQ<float>,    &kK<float>,      &kV<float>, &kQ<BFloat16>, &kK<BFloat16>,
                                    &kV<BFloat16>, &kPageTable,     &kScores,   &kPartOutputs, &kParts,
                                    &kP<Full>,     &kP<Causal>,     &kHalfP,    &kO<Full>,     &kO<Causal>,
                                    &kHalfO<Full>, &kHalfO<Causal>, &kOPaged};

// --- Operations and bytes ---

/// Of `read` bytes of an array of `once` bytes, those that were read before.
inline long long repeated(long long read, long long once) { return read > once ? read - once : 0; }

/// The pairs of a query and a key that sees it, in all heads.
template <class Mask>
double visible_pairs(const Shape& s) {
  double pairs = 0;
  for (int i = 0; i < s.dims[2]; ++i) pairs += Mask::visible(sizes(s), i);
  return pairs * s.dims[0];
}

/// Operations of the product of q and k alone, and of both products, for visible pairs only.
template <class Mask>
double score_flops(const Shape& s) {
  return 2 * visible_pairs<Mask>(s) * s.dims[4];
}
template <class Mask>
double attention_flops(const Shape& s) {
  return 2 * score_flops<Mask>(s);
}

// --- Rows that stages share ---

/// The weights alone, in float32 and in bfloat16 with float32 sums.
template <class Mask>
constexpr Stage kWeights = {.output = {&kP<Mask>},
                            .roundings = float_roundings,
                            .exact_roundings = exact_roundings,
                            .flops = score_flops<Mask>};
constexpr Stage kHalfWeights = kWeights<Full>.with({.output = {&kHalfP}, .roundings = tensor_roundings});

/// The whole in float32.
template <class Mask>
constexpr Stage kWhole = {.output = {&kO<Mask>},
                          .roundings = float_roundings,
                          .exact_roundings = exact_roundings,
                          .flops = attention_flops<Mask>,
                          .needs = "d of at most 128",
                          .against = "04_three_kernels"};
/// The whole in bfloat16 with float32 sums.
template <class Mask>
constexpr Stage kInBFloat16 = kWhole<Mask>.with({.output = {&kHalfO<Mask>}, .roundings = tensor_roundings});

/// By instructions of compute capability 8.0, and of an H100 or H200.
template <class Mask>
constexpr Stage kByMma = kInBFloat16<Mask>.with({.needs = "a GPU of compute capability 8.0; d of at most 128",
                                                 .capability = 80});
template <class Mask>
constexpr Stage kOnHopper =
    kInBFloat16<Mask>.with({.needs = "sm_90a: an H100 or H200; d of at most 128, of eights",
                            .capability = 90,
                            .no_other_capability = true});

}  // namespace DEVICE::attention
