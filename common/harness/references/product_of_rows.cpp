#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "chapter.hpp"
#include "harness/references/dot.hpp"

namespace workbook {
namespace {

std::vector<double> lengths(const float* rows, int count, int k) {
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < out.size(); ++r) {
    const float* row = rows + r * static_cast<std::size_t>(k);
    out[r] = std::sqrt(dot(row, row, k));
  }
  return out;
}

/// A bfloat16 is the upper half of the float32 of the same value.
std::vector<float> widened(const void* elements, std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, static_cast<const char*>(elements) + i * sizeof bits, sizeof bits);
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  return out;
}

double exact_gelu(double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }

double exact_gelu_tanh(double v) {
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
}

/// GELU is nowhere steeper than 1.13, so it makes an error of its argument at most 1.13 times as large.
void apply_bias_gelu(double (*gelu)(double), const Data& host, double* expected, double* magnitude) {
  static constexpr Array kBias = {"bias", Type::kFloat32, Role::kInput, nullptr};
  const auto* all_bias = static_cast<const float*>(host.elements(kBias));
  const long long n = host.shape.dims[2];
  on_all_cores(host.shape.dims[0], [&](long long row) {
    for (long long i = row * n; i < (row + 1) * n; ++i) {
      const double bias = all_bias[i - row * n];
      expected[i] = gelu(expected[i] + bias);
      magnitude[i] = 1.13 * (magnitude[i] + std::fabs(bias));
    }
  });
}

}  // namespace

void product_of_rows(const float* x, const float* w, int m, int k, int n, double* product, double* size) {
  constexpr int kRows = 16;  // rows of x at a time, so that they stay in the cache while w is read
  const std::vector<double> x_lengths = lengths(x, m, k), w_lengths = lengths(w, n, k);
  on_all_cores((m + kRows - 1) / kRows, [&](long long band) {
    const int first = static_cast<int>(band) * kRows;
    for (int c = 0; c < n; ++c)
      for (int r = first; r < std::min(first + kRows, m); ++r) {
        const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
        const std::size_t at = row * static_cast<std::size_t>(n) + column;
        product[at] = dot(x + row * static_cast<std::size_t>(k), w + column * static_cast<std::size_t>(k), k);
        size[at] = x_lengths[row] * w_lengths[column];
      }
  });
}

void product_of_bfloat16_rows(const void* x, const void* w, int m, int k, int n, double* product,
                              double* size) {
  const auto rows = static_cast<std::size_t>(m), along = static_cast<std::size_t>(k),
             columns = static_cast<std::size_t>(n);
  product_of_rows(widened(x, rows * along).data(), widened(w, columns * along).data(), m, k, n, product,
                  size);
}

void take_own_magnitude(const Data& host, long long count, const double* expected, double* magnitude) {
  if (host.exact)
    std::transform(expected, expected + count, magnitude, [](double e) { return std::fabs(e); });
}

void reference_bias_gelu(const Data& host, double* expected, double* magnitude) {
  apply_bias_gelu(exact_gelu, host, expected, magnitude);
}

void reference_bias_gelu_tanh(const Data& host, double* expected, double* magnitude) {
  apply_bias_gelu(exact_gelu_tanh, host, expected, magnitude);
}

}  // namespace workbook
