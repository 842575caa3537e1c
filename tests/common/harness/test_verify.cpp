// Verification must not let anything wrong pass.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "gpu/statistics.hpp"
#include "harness/problem.hpp"
#include "harness/references/verify.hpp"

namespace test_verify {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

workbook::Comparison compare_one(float got, double expected, double magnitude, int roundings) {
  const float values[] = {1.0f, got};
  return workbook::compare(values, workbook::Type::kFloat32, {{1.0, expected}, {1.0, magnitude}}, roundings);
}

template <class T>
bool is_right(workbook::Type type, T got, double expected, double magnitude, int roundings) {
  return workbook::compare(&got, type, {{expected}, {magnitude}}, roundings).first_wrong == -1;
}
/// The same of the bits of a float16 or bfloat16.
bool are_right(workbook::Type type, unsigned bits, double expected, int roundings = 0) {
  return is_right(type, static_cast<std::uint16_t>(bits), expected, std::fabs(expected), roundings);
}

/// The message about one wrong element.
template <class T>
std::string said(workbook::Type type, T got, double expected, int roundings = 1) {
  const workbook::Comparison comparison =
      workbook::compare(&got, type, {{expected}, {std::fabs(expected)}}, roundings);
  REQUIRE(comparison.first_wrong == 0);
  return workbook::wrong_value_text(comparison, type);
}
std::string said_of_bits(workbook::Type type, unsigned bits, double expected, int roundings = 1) {
  return said(type, static_cast<std::uint16_t>(bits), expected, roundings);
}

}  // namespace

TEST_CASE("rounding errors are allowed, more is not") {
  const float next = std::nextafter(1.0f, 2.0f);  // 2 units of 2^-24 away
  CHECK(compare_one(next, 1.0, 1.0, 2).first_wrong == -1);
  CHECK(compare_one(next, 1.0, 1.0, 1).first_wrong == 1);
  CHECK(compare_one(1.0f, 1.0, 1.0, 0).first_wrong == -1);
  CHECK(compare_one(next, 1.0, 1.0, 0).first_wrong == 1);
}

TEST_CASE("the error is relative to the terms, not to what is left of them") {
  // 1e6 - 1e6 + 0.01: float32 keeps about 0.06 of it.
  CHECK(compare_one(0.0f, 0.01, 2e6, 2).first_wrong == -1);
  CHECK(compare_one(0.0f, 0.01, 0.01, 2).first_wrong == 1);
}

TEST_CASE("NaN and infinity are right only where they are expected") {
  CHECK(compare_one(kNan, 1.0, 1.0, 100).first_wrong == 1);
  CHECK(compare_one(1.0f, kNan, 1.0, 100).first_wrong == 1);
  CHECK(compare_one(kNan, kNan, 1.0, 0).first_wrong == -1);
  CHECK(compare_one(kInfinity, 1.0, 1.0, 100).first_wrong == 1);
  CHECK(compare_one(kInfinity, kInfinity, 1.0, 0).first_wrong == -1);
  CHECK(compare_one(-kInfinity, kInfinity, 1.0, 0).first_wrong == 1);
  CHECK(std::isinf(compare_one(kNan, 1.0, 1.0, 100).error));
}

TEST_CASE("an element without terms must be exact") {
  CHECK(compare_one(0.0f, 0.0, 0.0, 2).first_wrong == -1);
  CHECK(compare_one(1e-30f, 0.0, 0.0, 2).first_wrong == 1);
}

TEST_CASE("float64 is held to its own roundings") {
  const double next = std::nextafter(1.0, 2.0);
  CHECK(is_right(workbook::Type::kFloat64, next, 1.0, 1.0, 2));
  CHECK_FALSE(is_right(workbook::Type::kFloat64, next, 1.0, 1.0, 1));
}

TEST_CASE("an int8 is equal or wrong") {
  CHECK(is_right(workbook::Type::kInt8, std::int8_t{-128}, -128, 1, 100));
  CHECK_FALSE(is_right(workbook::Type::kInt8, std::int8_t{5}, 6, 100, 100));
}

TEST_CASE("a float16 is rounded once") {
  const auto right = [](unsigned bits, double expected, int roundings = 0) {
    return are_right(workbook::Type::kFloat16, bits, expected, roundings);
  };
  CHECK(right(0x3c00, 1));
  CHECK(right(0x3c00, 1 + 0x1p-11));        // halfway: to even
  CHECK_FALSE(right(0x3c01, 1 + 0x1p-11));  // not up
  CHECK(right(0x3c01, 1 + 0x1p-11, 1));     // unless float32 may have been just above
  CHECK_FALSE(right(0x3c02, 1 + 0x1p-10));  // the next but one
  CHECK(right(0x0001, 0x1p-24));            // subnormal
  CHECK(right(0x0000, 0x1p-25));            // halfway to the smallest: to even
  CHECK(right(0x7bff, 65504));              // the largest
  CHECK(right(0x7bff, 65519));
  CHECK(right(0x7c00, 65520));  // infinity
  CHECK_FALSE(right(0x7c00, 65519));
  CHECK(right(0xfc00, -1e30));
  CHECK_FALSE(right(0x7e00, 1));  // NaN
  CHECK(right(0x7e00, kNan));
  CHECK_FALSE(right(0x3c00, kInfinity));
}

TEST_CASE("a bfloat16 is rounded once") {
  const auto right = [](unsigned bits, double expected) {
    return are_right(workbook::Type::kBFloat16, bits, expected);
  };
  CHECK(right(0x3f80, 1));
  CHECK(right(0x3f80, 1 + 0x1p-8));
  CHECK_FALSE(right(0x3f81, 1 + 0x1p-8));
  CHECK(right(0x7f7f, 0x1.fep127));
  CHECK(right(0x7f80, 0x1.ffp127));  // halfway to what would be next: infinity
  CHECK(right(0x0001, 0x1p-133));
  CHECK_FALSE(right(0x0002, 0x1p-133));
}

namespace {

std::vector<double> from_1_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

}  // namespace

TEST_CASE("the interval of a median is that of the binomial distribution") {
  const auto ranks = [](int n) {
    const auto interval = workbook::median_interval(from_1_to(n));
    return interval ? std::pair(interval->low, interval->high) : std::pair(0.0, 0.0);
  };
  CHECK(ranks(25) == std::pair(8.0, 18.0));  // from tables, such as David and Nagaraja's
  CHECK(ranks(9) == std::pair(2.0, 8.0));
  CHECK(ranks(20) == std::pair(6.0, 15.0));
  CHECK(ranks(6) == std::pair(1.0, 6.0));
  for (int n = 0; n < 6; ++n) CHECK_FALSE(workbook::median_interval(from_1_to(n)));
}

TEST_CASE("the interval of a median holds it in 95 % of all cases, whatever the distribution") {
  std::mt19937 random(5);
  std::lognormal_distribution<double> skewed(0, 2);  // its median is 1
  const int trials = 4000;
  int inside = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = skewed(random);
    const auto interval = workbook::median_interval(samples);
    inside += interval->low <= 1 && 1 <= interval->high;
  }
  // 95.7 % are expected of 25 samples; the standard deviation over that many trials is 0.3 %.
  CHECK(std::fabs(static_cast<double>(inside) / trials - 0.957) < 0.013);
}

TEST_CASE("ratios are taken round by round, so that what disturbs a round disturbs both") {
  std::vector<double> base, own;
  for (int round = 0; round < 25; ++round) {
    const double clock = 1 + 0.02 * round;  // both slow down
    base.push_back(30 * clock);
    own.push_back(20 * clock * (1 + 0.001 * (round % 5)));
  }
  const workbook::Ratio ratio = workbook::paired_ratio(base, own);
  CHECK(ratio.samples == 25);
  CHECK(std::fabs(ratio.median - 1.5 / 1.002) < 1e-9);
  REQUIRE(ratio.interval);
  CHECK(std::fabs(ratio.interval->low - 1.5 / 1.003) < 1e-9);
  CHECK(std::fabs(ratio.interval->high - 1.5 / 1.001) < 1e-9);
  CHECK_FALSE(shows_no_difference(ratio));
  CHECK(shows_no_difference(workbook::paired_ratio({1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1})));
  CHECK(shows_no_difference(workbook::paired_ratio({3, 3}, {1, 1})));  // too few to know
  CHECK_THROWS_AS(workbook::paired_ratio({1, 2}, {1}), std::invalid_argument);
}

TEST_CASE("median and quartiles") {
  const auto timing = workbook::summarise({5, 1, 3, 2, 4});
  CHECK(timing.median == 3);
  CHECK(timing.p25 == 2);
  CHECK(timing.p75 == 4);
  CHECK(timing.samples == std::vector<double>{5, 1, 3, 2, 4});  // in order
  CHECK(workbook::summarise({1, 2}).median == 1.5);
  CHECK(workbook::summarise({7}).p75 == 7);
  CHECK_THROWS_AS(workbook::summarise({}), std::invalid_argument);
}

TEST_CASE("the mix of a streaming ceiling follows the stage's bytes") {
  const auto mix = [](long long reads, long long writes) {
    const auto [r, w] = workbook::mix_of({reads, writes});
    return std::pair(r, w);
  };
  CHECK(mix(16, 8) == std::pair(2, 1));
  CHECK(mix(12, 4) == std::pair(3, 1));
  CHECK(mix(4, 4) == std::pair(1, 1));
  CHECK(mix(4, 1) == std::pair(4, 1));
  CHECK(mix(12000, 32) == std::pair(1, 0));
  CHECK(mix(9, 4) == std::pair(5, 2));  // 2:1 would write more than 4 of 13 bytes
  CHECK(mix(130, 64) == std::pair(2, 1));
  CHECK(mix(1, 4) == std::pair(1, 2));
  CHECK(mix(8, 0) == std::pair(1, 0));
}

TEST_CASE("errors of 16-bit results in units of their last place") {
  using workbook::last_places, workbook::Type;
  CHECK(last_places(1, 1 + 0x1p-9, 1, Type::kBFloat16) == 0.25);  // the last place is 2^-7
  CHECK(last_places(1, 1 + 0x1p-11, 1, Type::kFloat16) == 0.5);   // 2^-10
  CHECK(last_places(-3, -3 - 0x1p-6, 3, Type::kBFloat16) == 1);   // 2^-6 from 2 to 4
  CHECK(last_places(0x1p-133, 0, 0, Type::kBFloat16) == 1);       // the smallest subnormal number
  CHECK(last_places(0x1p-24, 0x1p-25, 0x1p-25, Type::kFloat16) == 0.5);
  CHECK(last_places(kNan, kNan, 1, Type::kFloat16) == 0);
  CHECK(last_places(kInfinity, 65520, 65520, Type::kFloat16) == 0);  // rounds to infinity
  CHECK(last_places(-0.0, 0, 0, Type::kFloat16) == 0);
  CHECK(std::isinf(last_places(kInfinity, 65000, 65000, Type::kFloat16)));
  CHECK(std::isinf(last_places(kNan, 1, 1, Type::kBFloat16)));
  CHECK(std::isinf(last_places(1, kNan, 1, Type::kBFloat16)));
  // 1 - (1 - 2^-22), off by 2^-24: four float32 roundings of the terms. The result itself has 2^-29 as its
  // last place, and no float32 arithmetic can be that exact.
  CHECK(last_places(0x1p-22 + 0x1p-24, 0x1p-22, 2, Type::kBFloat16) == 0x1p-24 / 0x1p-19);
}

TEST_CASE("a comparison has the largest error in units of the last place, of 16-bit types alone") {
  const std::uint16_t values[] = {0x3f80, 0x4040};  // 1, 3
  const auto comparison =
      workbook::compare(values, workbook::Type::kBFloat16, {{1 + 0x1p-9, 3 + 0x1p-7}, {1, 3}}, 0);
  CHECK(comparison.last_places == 0.5);
  CHECK(compare_one(1.5f, 1.0, 1.0, 0).last_places == std::nullopt);
}

TEST_CASE("a wrong value is printed with the digits of its type, and differs from the expected one") {
  using workbook::Type;
  CHECK(said(Type::kFloat32, 1.5f, 1.25) == "is 1.5, expected 1.25 (off by 0.25, allowed 7.5e-08)");
  CHECK(said(Type::kFloat32, std::nextafter(1.0f, 2.0f), 1, 0) ==
        "is 1.00000012, expected 1 (off by 1.2e-07, allowed 0)");
  CHECK(said(Type::kFloat64, std::nextafter(0.1, 1.0), 0.1, 0) ==
        "is 0.10000000000000002, expected 0.10000000000000001 (off by 1.4e-17, allowed 0)");
  CHECK(said(Type::kFloat64, 0.25, 0.5) == "is 0.25, expected 0.5 (off by 0.25, allowed 5.6e-17)");
  // 16 bits: the values that are right, not an error finer than the format.
  CHECK(said_of_bits(Type::kFloat16, 0x3c02, 1.0000001) == "is 1.002, expected 1 (as float16)");
  CHECK(said_of_bits(Type::kFloat16, 0x3c02, 1 + 0x1p-11) == "is 1.002, expected 1 to 1.001 (as float16)");
  CHECK(said_of_bits(Type::kBFloat16, 0x3f82, 1.0000001) == "is 1.016, expected 1 (as bfloat16)");
  CHECK(said_of_bits(Type::kBFloat16, 0x7fc0, 2) == "is NaN, expected 2");
  CHECK(said(Type::kInt8, std::int8_t{-128}, 127) == "is -128, expected 127");
  CHECK(said(Type::kUint32, 4294967295u, 4294967294.0) == "is 4294967295, expected 4294967294");
}

}  // namespace test_verify
