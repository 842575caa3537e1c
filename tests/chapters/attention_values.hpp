/// \file
/// Difficult cases for attention: shapes, alignments, and inputs, in float32 unless a comment says otherwise;
/// those in bfloat16 are then the chapter's own.
#pragma once
#include <cmath>
#include <cstddef>
#include <map>
#include <string>

#include "chapter.hpp"
#include "chapters/arrays_by_name.hpp"

inline const workbook::Shape kHostileShapes[] = {
    {{1, 1, 1, 1, 1}},      {{1, 1, 1, 1, 128}},    {{3, 1, 65, 130, 40}}, {{2, 2, 64, 64, 64}},
    {{1, 1, 7, 300, 128}},  {{2, 1, 130, 5, 33}},   {{5, 3, 1, 257, 3}},   {{1, 1, 33, 1024, 8}},
    {{1, 1, 3, 1030, 4}},   {{1, 1, 2, 3, 130}},    {{1, 2, 66, 31, 17}},  {{4, 2, 63, 65, 65}},
    {{2, 1, 129, 127, 12}}, {{1, 1, 100, 130, 66}}, {{1, 1, 2, 513, 2}}};

/// Bytes by which arrays are off a multiple of 256.
inline std::map<std::string, std::size_t> attention_offsets(std::size_t q, std::size_t k) {
  return {{"q", q},          {"k", k},          {"v", q},          {"p", k},
          {"p_causal", q},   {"o", k},          {"o_causal", q},   {"q_bfloat16", k},
          {"k_bfloat16", q}, {"v_bfloat16", k}, {"o_bfloat16", q}, {"o_causal_bfloat16", k}};
}

inline long long k_elements(const workbook::Data& host) {
  return 1LL * host.shape.dims[1] * host.shape.dims[3] * host.shape.dims[4];
}
inline long long q_elements(const workbook::Data& host) {
  return 1LL * host.shape.dims[0] * host.shape.dims[2] * host.shape.dims[4];
}

/// Scores around 10^4 and -10^4.
template <workbook::Chapter chapter()>
void fill_large(const workbook::Data& host) {
  chapter().fill(host);
  const auto factor = static_cast<float>(1e4 / std::sqrt(static_cast<double>(host.shape.dims[4])));
  for (long long i = 0; i < q_elements(host); ++i) floats(host, "q")[i] *= factor;
}

/// All keys alike, so that all weights are equal.
template <workbook::Chapter chapter()>
void fill_equal_keys(const workbook::Data& host) {
  chapter().fill(host);
  const int d = host.shape.dims[4];
  for (long long i = d; i < k_elements(host); ++i) floats(host, "k")[i] = floats(host, "k")[i % d];
}

/// Scores that grow from key to key, so that every tile has a new maximum.
template <workbook::Chapter chapter()>
void fill_growing(const workbook::Data& host) {
  chapter().fill(host);
  const int keys = host.shape.dims[3], d = host.shape.dims[4];
  for (long long i = 0; i < q_elements(host); ++i) floats(host, "q")[i] = 1.0f;
  for (long long i = 0; i < k_elements(host); ++i)
    floats(host, "k")[i] = static_cast<float>(i / d % keys) / std::sqrt(static_cast<float>(d));
}

/// In bfloat16: queries 16 times as large, so that the largest score often grows by more than 8 from tile to
/// tile, and outputs that are not 0 must be rescaled.
template <workbook::Chapter chapter()>
void fill_steep(const workbook::Data& host) {
  chapter().fill(host);
  auto* const bits =
      static_cast<unsigned short*>(elements_named(host, "q_bfloat16", workbook::Type::kBFloat16));
  for (long long i = 0; i < q_elements(host); ++i)
    if (bits[i] & 0x7fff)
      bits[i] = static_cast<unsigned short>(bits[i] + (4 << 7));  // 4 more in the exponent
}

/// In both: a NaN in the last key of each head. With a mask, the last query sees it and no other.
template <workbook::Chapter chapter()>
void fill_nan(const workbook::Data& host) {
  chapter().fill(host);
  const int keys = host.shape.dims[3], d = host.shape.dims[4];
  auto* const bits =
      static_cast<unsigned short*>(elements_named(host, "k_bfloat16", workbook::Type::kBFloat16));
  for (long long i = (keys - 1LL) * d; i < k_elements(host); i += 1LL * keys * d) {
    floats(host, "k")[i] = std::nanf("");
    bits[i] = 0x7fc0;
  }
}
