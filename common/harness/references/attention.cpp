#include "attention.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/references/dot.hpp"

namespace workbook {
namespace {

/// Sums over the keys, for each of the d elements of an output row.
struct OutputRow {
  std::vector<double> values, sizes, squares;
  explicit OutputRow(int d)
      : values(static_cast<std::size_t>(d)), sizes(values.size()), squares(values.size()) {}
};

/// Adds one key's values with their weight. `size` is the weight times its uncertainty.
#ifdef __x86_64__
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void
add(double* values, double* sizes, double* squares, const double* v, double weight, double size, int d) {
  for (int c = 0; c < d; ++c) {
    const double term = weight * v[c];
    values[c] += term;
    sizes[c] += size * std::fabs(v[c]);
    squares[c] += term * term;
  }
}

/// A bfloat16 is the upper half of the float32 of the same value.
std::vector<double> as_doubles(const void* elements, Type type, std::size_t count) {
  std::vector<double> out(count);
  on_all_cores(static_cast<long long>((count + 65535) / 65536), [&](long long part) {
    const std::size_t first = static_cast<std::size_t>(part) * 65536;
    for (std::size_t i = first; i < std::min(first + 65536, count); ++i) {
      if (type == Type::kFloat32) {
        out[i] = static_cast<const float*>(elements)[i];
      } else {
        std::uint16_t bits;
        std::memcpy(&bits, static_cast<const char*>(elements) + i * sizeof bits, sizeof bits);
        out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
      }
    }
  });
  return out;
}

std::vector<double> lengths(const std::vector<double>& rows, int d) {
  std::vector<double> out(rows.size() / static_cast<std::size_t>(d));
  for (std::size_t r = 0; r < out.size(); ++r) {
    const double* row = &rows[r * static_cast<std::size_t>(d)];
    out[r] = std::sqrt(dot(row, row, d));
  }
  return out;
}

/// The inputs in double precision, and the weights of one query at a time.
class Rows {
 public:
  explicit Rows(const Attention& p)
      : problem_(p),
        q_(as_doubles(p.q, p.type, size(p.heads, p.queries))),
        k_(as_doubles(p.k, p.type, size(p.key_heads, p.keys))),
        v_(as_doubles(p.v, p.type, size(p.key_heads, p.keys))),
        q_lengths_(lengths(q_, p.d)),
        k_lengths_(lengths(k_, p.d)) {}

  /// weights[j] and their magnitude sizes[j], for the keys that query i of head h sees. \returns how many
  int weights(int h, int i, double* weights, double* sizes) const {
    const Attention& p = problem_;
    const int visible = p.causal ? std::clamp(i + 1 + p.keys - p.queries, 0, p.keys) : p.keys;
    const std::size_t row =
        static_cast<std::size_t>(h) * static_cast<std::size_t>(p.queries) + static_cast<std::size_t>(i);
    const double scale = 1 / std::sqrt(static_cast<double>(p.d));
    double most = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < visible; ++j) {
      weights[j] = scale * dot(&q_[row * width()], key(h, j), p.d);
      most = std::max(most, weights[j]);
    }
    double sum = 0, uncertainty = 0;  // the latter in roundings of the sum of all weights
    for (int j = 0; j < visible; ++j) {
      const double below = most - weights[j];
      weights[j] = std::exp(-below);
      sizes[j] = scale * q_lengths_[row] * k_lengths_[key_row(h, j)] + below;
      sum += weights[j];
      uncertainty += weights[j] * sizes[j];
    }
    for (int j = 0; j < visible; ++j) {
      weights[j] /= sum;
      sizes[j] = weights[j] * (p.exact ? 1 : 1 + sizes[j] + uncertainty / sum);
    }
    return visible;
  }

  const double* value(int h, int j) const { return &v_[key_row(h, j) * width()]; }

 private:
  std::size_t width() const { return static_cast<std::size_t>(problem_.d); }
  std::size_t size(int heads, int rows) const {
    return static_cast<std::size_t>(heads) * static_cast<std::size_t>(rows) * width();
  }
  std::size_t key_row(int h, int j) const {
    const Attention& p = problem_;
    const long long head = static_cast<long long>(h) * p.key_heads / p.heads;
    if (!p.page_table) return static_cast<std::size_t>(head * p.keys + j);
    const long long page = p.page_table[head * (p.keys / p.page_keys) + j / p.page_keys];
    return static_cast<std::size_t>(page * p.page_keys + j % p.page_keys);
  }
  const double* key(int h, int j) const { return &k_[key_row(h, j) * width()]; }

  const Attention& problem_;
  std::vector<double> q_, k_, v_, q_lengths_, k_lengths_;
};

/// float32 numbers are not normal below 2^-126.
constexpr double kTiny = 0x1p-100;

}  // namespace

void attention_weights(const Attention& problem, double* expected, double* magnitude) {
  const Rows rows(problem);
  on_all_cores(static_cast<long long>(problem.heads) * problem.queries, [&](long long row) {
    double *const weights = expected + row * problem.keys, *const sizes = magnitude + row * problem.keys;
    const int visible = rows.weights(static_cast<int>(row / problem.queries),
                                     static_cast<int>(row % problem.queries), weights, sizes);
    for (int j = 0; j < problem.keys; ++j) {
      if (j >= visible) weights[j] = sizes[j] = 0;
      sizes[j] += kTiny;
    }
  });
}

void attention_output(const Attention& problem, double p_roundings, double roundings, double* expected,
                      double* magnitude) {
  const Rows rows(problem);
  const double of_squares = problem.exact ? 0 : 6 * p_roundings / roundings;
  on_all_cores(static_cast<long long>(problem.heads) * problem.queries, [&](long long row) {
    std::vector<double> weights(static_cast<std::size_t>(problem.keys)), sizes(weights.size());
    const int h = static_cast<int>(row / problem.queries);
    const int visible =
        rows.weights(h, static_cast<int>(row % problem.queries), weights.data(), sizes.data());
    OutputRow sums(problem.d);
    for (int j = 0; j < visible; ++j) {
      const auto key = static_cast<std::size_t>(j);
      add(sums.values.data(), sums.sizes.data(), sums.squares.data(), rows.value(h, j), weights[key],
          sizes[key], problem.d);
    }
    for (std::size_t c = 0; c < sums.values.size(); ++c) {
      const std::size_t at = static_cast<std::size_t>(row) * sums.values.size() + c;
      expected[at] = sums.values[c];
      magnitude[at] = sums.sizes[c] + of_squares * std::sqrt(sums.squares[c]) + kTiny;
    }
  });
}

}  // namespace workbook
