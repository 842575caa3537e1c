/// \file
/// Chapter 08: what its stages share: the arrays, the inputs, the references, and how far results may be off.
#pragma once
#include <math.h>

#include "attention.hpp"
#include "ceil_div.hpp"
#include "chapter.hpp"
#include "halves.hpp"

namespace DEVICE::attention {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::gpu_only;
using workbook::on_all_cores;
using workbook::Role;
using workbook::row_sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

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

struct Arrays {
  Sizes sizes;
  float scale;  ///< 1 / sqrt(d)
  float *q, *k, *v, *scores;
  long long rows;  ///< of q and of the scores, in all heads
};

inline float scale_of(int d) { return static_cast<float>(1 / sqrt(static_cast<double>(d))); }

inline Arrays arrays(const Data& data) {
  return {.sizes = sizes(data.shape),
          .scale = scale_of(data.shape.dims[4]),
          .q = data.floats("q"),
          .k = data.floats("k"),
          .v = data.floats("v"),
          .scores = data.floats("scores"),
          .rows = rows(data.shape)};
}

struct Halves {
  Sizes sizes;
  float scale;
  const __nv_bfloat16 *q, *k, *v;
};

inline __nv_bfloat16* bfloat16s(const Data& data, const char* name) {
  return static_cast<__nv_bfloat16*>(data.array(name, Type::kBFloat16));
}

inline Halves half_arrays(const Data& data) {
  return {.sizes = sizes(data.shape),
          .scale = scale_of(data.shape.dims[4]),
          .q = bfloat16s(data, "q_bfloat16"),
          .k = bfloat16s(data, "k_bfloat16"),
          .v = bfloat16s(data, "v_bfloat16")};
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
  const Arrays a = arrays(host);
  const int d = a.sizes.d, keys = a.sizes.keys;
  workbook::fill_whole(a.q, q_elements(host.shape), 1, 81);
  for (long long i = 0; i < q_elements(host.shape); ++i) a.q[i] = 16384.0f * (2 + a.q[i]);
  for (long long i = 0; i < k_elements(host.shape); ++i) {
    const long long row = i / d, key = row % keys;
    a.k[i] = (keys - key) % 2 == 0 && i % d == (row / 2) % d ? -1.0f : 0.0f;
  }
  workbook::fill_whole(a.v, k_elements(host.shape), 7, 83);
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
  auto* const table = static_cast<unsigned*>(host.array("page_table", Type::kUint32));
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
  const Arrays a = arrays(host);
  if (host.exact) {
    fill_exact(host);
  } else {
    workbook::fill_uniform(a.q, q_elements(host.shape), -2.5f, 2.5f, 81);
    workbook::fill_uniform(a.k, k_elements(host.shape), -1.5f, 2.0f, 82);
    workbook::fill_uniform(a.v, k_elements(host.shape), -1.0f, 2.0f, 83);
  }
  round_to(bfloat16s(host, "q_bfloat16"), a.q, q_elements(host.shape));
  round_to(bfloat16s(host, "k_bfloat16"), a.k, k_elements(host.shape));
  round_to(bfloat16s(host, "v_bfloat16"), a.v, k_elements(host.shape));
  fill_page_table(host);
}

// --- References ---

inline workbook::Attention problem(const Data& host, bool causal) {
  const Arrays a = arrays(host);
  const Sizes s = a.sizes;
  return {a.q, a.k, a.v, Type::kFloat32, s.heads, s.key_heads, s.queries, s.keys, s.d, causal, host.exact};
}

inline workbook::Attention half_problem(const Data& host, bool causal) {
  const Halves a = half_arrays(host);
  const Sizes s = a.sizes;
  return {a.q, a.k, a.v, Type::kBFloat16, s.heads, s.key_heads, s.queries, s.keys, s.d, causal, host.exact};
}

template <class Mask>
void reference_weights(const Data& host, double* expected, double* magnitude) {
  workbook::attention_weights(problem(host, Mask::kCausal), expected, magnitude);
}

inline void reference_bfloat16_weights(const Data& host, double* expected, double* magnitude) {
  workbook::attention_weights(half_problem(host, false), expected, magnitude);
}

template <class Mask>
void reference_output(const Data& host, double* expected, double* magnitude) {
  workbook::attention_output(problem(host, Mask::kCausal), 0, 1, expected, magnitude);
}

template <class Mask>
void reference_bfloat16(const Data& host, double* expected, double* magnitude) {
  workbook::attention_output(half_problem(host, Mask::kCausal), kWeightRoundings,
                             tensor_roundings(host.shape), expected, magnitude);
}

inline void reference_paged(const Data& host, double* expected, double* magnitude) {
  workbook::Attention paged = half_problem(host, false);
  paged.page_table = static_cast<const unsigned*>(host.array("page_table", Type::kUint32));
  paged.page_keys = kPageKeys;
  workbook::attention_output(paged, kWeightRoundings, tensor_roundings(host.shape), expected, magnitude);
}

const Array kArrays[] = {
    {"q", Type::kFloat32, Role::kInput, q_elements, nullptr},
    {"k", Type::kFloat32, Role::kInput, k_elements, nullptr},
    {"v", Type::kFloat32, Role::kInput, k_elements, nullptr},
    {"q_bfloat16", Type::kBFloat16, Role::kInput, q_elements, nullptr},
    {"k_bfloat16", Type::kBFloat16, Role::kInput, k_elements, nullptr},
    {"v_bfloat16", Type::kBFloat16, Role::kInput, k_elements, nullptr},
    {"page_table", Type::kUint32, Role::kInput, page_count, nullptr},
    {"scores", Type::kFloat32, Role::kScratch, scratch_scores, nullptr},
    {"part_outputs", Type::kFloat32, Role::kScratch, split_outputs, nullptr},
    {"parts", Type::kFloat32, Role::kScratch, split_parts, nullptr},
    {"p", Type::kFloat32, Role::kOutput, compared_scores, reference_weights<Full>, "q k"},
    {"p_causal", Type::kFloat32, Role::kOutput, compared_scores, reference_weights<Causal>, "q k"},
    {"p_bfloat16", Type::kBFloat16, Role::kOutput, compared_scores, reference_bfloat16_weights,
     "q_bfloat16 k_bfloat16"},
    {"o", Type::kFloat32, Role::kOutput, q_elements, reference_output<Full>, "q k v"},
    {"o_causal", Type::kFloat32, Role::kOutput, q_elements, reference_output<Causal>, "q k v"},
    {"o_bfloat16", Type::kBFloat16, Role::kOutput, q_elements, reference_bfloat16<Full>,
     "q_bfloat16 k_bfloat16 v_bfloat16"},
    {"o_causal_bfloat16", Type::kBFloat16, Role::kOutput, q_elements, reference_bfloat16<Causal>,
     "q_bfloat16 k_bfloat16 v_bfloat16"},
    {"o_paged", Type::kBFloat16, Role::kOutput, paged_outputs, reference_paged,
     "q_bfloat16 k_bfloat16 v_bfloat16 page_table"},
};

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

}  // namespace DEVICE::attention
