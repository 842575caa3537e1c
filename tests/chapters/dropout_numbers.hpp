/// \file
/// Shared by the tests of chapter 07 on both devices: the right random numbers, and where arrays start.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"

/// A known answer of Philox 4x32: those that come with Random123, the authors' library (file kat_vectors).
struct KnownAnswer {
  std::array<unsigned, 4> counter;
  std::array<unsigned, 2> key;
  int rounds;
  std::array<unsigned, 4> numbers;
};
constexpr KnownAnswer kKnownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, 10, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0, 0, 0, 0}, {0, 0}, 7, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     10,
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     10,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     7,
     {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
};

/// Checks that about the share 1 - p is kept: within five standard deviations of the binomial distribution.
inline void check_share(const std::vector<signed char>& kept, double p) {
  double count = 0;
  for (const signed char one : kept) count += one;
  const double n = static_cast<double>(kept.size()), expected = n * (1 - p),
               sigma = std::sqrt(n * p * (1 - p));
  INFO(count << " of " << n << " are kept, expected " << expected << ", sigma " << sigma);
  CHECK(std::fabs(count - expected) <= 5 * sigma);
}

/// Checks that whether a[i] is kept says nothing of b[i + apart]: the correlation of n pairs is within five
/// standard deviations of 0, of 1 / sqrt(n) each.
inline void check_no_correlation(const std::vector<signed char>& a, const std::vector<signed char>& b,
                                 std::size_t apart, double p) {
  const std::size_t n = a.size() - apart;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += (a[i] - (1 - p)) * (b[i + apart] - (1 - p));
  const double correlation = sum / (static_cast<double>(n) * p * (1 - p));
  INFO("apart " << apart << ": correlation " << correlation);
  CHECK(std::fabs(correlation) <= 5 / std::sqrt(static_cast<double>(n)));
}

/// For Problem: how many bytes after a multiple of 256 each array starts. Those of 16 bits start at x or y,
/// others at twice as much; masks of bits are vectors wherever they are.
inline std::map<std::string, std::size_t> gelu_dropout_offsets(std::size_t x, std::size_t y) {
  std::map<std::string, std::size_t> offsets = {{"mask_bytes", x + 1}, {"saved_bytes", y + 1}};
  const auto start = [&](std::initializer_list<const char*> arrays, std::size_t offset) {
    for (const char* name : arrays) offsets[name] = offset;
  };
  start({"x", "dx_tanh"}, 2 * x);
  start({"dy", "dx", "dx_by_bytes", "dx_by_bits"}, 2 * y);
  start({"y", "y_one", "y_four", "y_tanh", "y_sixteen"}, 2 * y);
  start({"x_float16", "x_bfloat16", "block", "norm"}, x);
  start({"y_float16", "y_bfloat16", "y_tanh_bfloat16", "dy_bfloat16", "dx_bfloat16"}, y);
  start({"residual_bfloat16", "bias_bfloat16", "weight_bfloat16", "h"}, y);
  return offsets;
}
