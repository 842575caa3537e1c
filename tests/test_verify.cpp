// Verification must not let anything wrong pass.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "run_stage.hpp"
#include "statistics.hpp"
#include "verify.hpp"

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

workbook::Comparison compare_one(float got, double expected, double magnitude, int roundings) {
  return workbook::compare({1.0f, got}, {{1.0, expected}, {1.0, magnitude}}, roundings);
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

TEST_CASE("median and quartiles") {
  const auto timing = workbook::summarise({5, 1, 3, 2, 4});
  CHECK(timing.median == 3);
  CHECK(timing.p25 == 2);
  CHECK(timing.p75 == 4);
  CHECK(timing.samples == 5);
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
}
