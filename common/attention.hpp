/// \file
/// For the references of attention: softmax(q * k^T / sqrt(d)) and its product with v, in double precision on
/// all cores of the host.
#pragma once

#include "chapter.hpp"

namespace workbook {

/// One attention problem, with its inputs on the host: q is heads x queries x d, k and v are
/// key_heads x keys x d, all contiguous. Head h of q reads head h * key_heads / heads of k and v.
struct Attention {
  const void *q, *k, *v;
  Type type;  ///< of q, k and v: kFloat32 or kBFloat16
  int heads, key_heads, queries, keys, d;
  bool causal;  ///< query i sees the keys j <= i + keys - queries and no others; otherwise it sees all
  bool exact;   ///< no score is rounded, nor is its exponential: magnitudes are sizes of terms alone
  /// Null, or for each head of k and v the pages, of page_keys rows each, that hold its keys in order.
  const unsigned* page_table = nullptr;
  int page_keys = 0;
};

/// p[h][i][j] = the weight of key j for query i, heads x queries x keys of them: softmax over the keys that
/// query i sees, and 0 for the others. A query that sees no key has only zeros.
///
/// Computed in float32, a score is off by c roundings of |q_i| * |k_j| / sqrt(d) at most, where c depends on
/// d alone (Cauchy and Schwarz), and its difference from the row's maximum by one rounding more. The weight
/// is then off by that factor, and so is the sum of all weights: `magnitude` is the weight times one plus all
/// that. Below 2^-126, float32 has no relative precision, so 2^-100 is added.
void attention_weights(const Attention& problem, double* expected, double* magnitude);

/// o[h][i][c] = the sum over j of p[h][i][j] * v[j][c], heads x queries x d of them.
///
/// `magnitude` is that of the weights, summed over the terms. If p_roundings is not 0, each weight was
/// rounded to a shorter format before it was multiplied, which is worth p_roundings roundings of float32
/// each. Their errors are independent, so six times the square root of the sum of their squares bounds them
/// all with a probability close to 1; that is divided by `roundings`, those of the stage, and added.
void attention_output(const Attention& problem, double p_roundings, double roundings, double* expected,
                      double* magnitude);

}  // namespace workbook
