// Chapter 03 on the CPU device: every stage right at hostile shapes, alignments and values, and counting what
// its formula says.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/quantize_values.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace cpu::quotients {
void divide_corrected(const float* x, const float* scale, float* out, int n);
}
namespace cpu::quantize_int8 {
workbook::Chapter chapter();
}

namespace test_quantize {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::quantize_int8::chapter();

void check_values(void (*fill)(const Data&), const std::vector<Shape>& shapes) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  const auto backend = make_cpu_backend();
  for (const Shape& shape : shapes) {
    Problem problem(chapter, shape, *backend);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

/// Divides on the CPU device. One call divides all pairs that fit into the arrays.
class Divisions {
 public:
  void add(float x, float scale) {
    x_.push_back(x);
    scale_.push_back(scale);
    if (x_.size() == kMost) check();
  }
  /// Compares the pairs that have been added with the division, and returns how many there were in all.
  long long check() {
    const int n = static_cast<int>(x_.size());
    backend_->upload(x_there_.data(), x_.data(), n * sizeof(float));
    backend_->upload(scale_there_.data(), scale_.data(), n * sizeof(float));
    backend_->run(
        [&] { cpu::quotients::divide_corrected(x_there_.data(), scale_there_.data(), out_.data(), n); });
    const std::vector<float> quotients = out_.values();
    for (int i = 0; i < n; ++i) {
      if (quotients[i] == x_[i] / scale_[i]) continue;
      INFO(x_[i] << " / " << scale_[i]);
      REQUIRE(quotients[i] == x_[i] / scale_[i]);
    }
    x_.clear();
    scale_.clear();
    return divisions_ += n;
  }

 private:
  static constexpr std::size_t kMost = 1 << 20;
  std::unique_ptr<Backend> backend_ = make_cpu_backend();
  DeviceArray<float> x_there_{*backend_, kMost}, scale_there_{*backend_, kMost}, out_{*backend_, kMost};
  std::vector<float> x_, scale_;
  long long divisions_ = 0;
};

/// Adds all pairs of 24-bit significands whose quotient is so near the middle between two floats that the
/// error of divided() before its last rounding, 4 * 2^-48 of the quotient, might reach over it. Such a middle
/// is middle / 2^e with an odd `middle` of 25 bits, and the distance between x and middle / 2^e * scale is d
/// / 2^e with a whole number d, which is less than 4 where x >= scale (e = 24), and less than 8 where x <
/// scale (e = 25).
void add_all_near_a_middle(Divisions& to) {
  constexpr long long kLeast = 1 << 23, kMost = 1 << 24;
  for (const bool smaller : {false, true}) {
    const int e = smaller ? 25 : 24, most = smaller ? 7 : 3;
    for (long long scale = kLeast; scale < kMost; ++scale) {
      // scale * middle = -d (mod 2^e): scale and d have the same number of factors 2, and without those an
      // odd scale has an inverse.
      const int twos = __builtin_ctzll(scale);
      const unsigned long long odd = scale >> twos, period = 1ull << (e - twos);
      unsigned long long inverse = odd;  // right in 3 bits; each step doubles them
      for (int bits = 3; bits < e; bits *= 2) inverse *= 2 - odd * inverse;
      for (int d = -most; d <= most; ++d) {
        if (d == 0 || __builtin_ctz(static_cast<unsigned>(d)) != twos) continue;
        const long long remainder = static_cast<long long>((0 - inverse * (d / (1 << twos))) % period);
        for (long long middle = remainder; middle < 2 * kMost; middle += static_cast<long long>(period)) {
          if (middle < kMost) continue;
          const long long x = (middle * scale + d) >> e;
          if (x < kLeast || x >= kMost || (x < scale) != smaller) continue;
          to.add(static_cast<float>(x), static_cast<float>(scale));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("03: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  const Shape shapes[] = {{{1, 1, 1}},     {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},  {{1, 256, 1}},
                          {{5, 1023, 1}},  {{2, 4097, 1}},  {{3, 8192, 1}},  {{9, 1000, 1}},  {{1, 65536, 1}},
                          {{2, 20000, 1}}, {{1, 65537, 1}}, {{2, 70000, 1}}, {{1, 999983, 1}}};
  for (const Shape& shape : shapes) {
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      if (!result.counts.approximate) check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("03: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int columns : {1, 4, 31, 64, 515, 2048})
    for (std::size_t x = 0; x < 16; x += 4)
      for (std::size_t q = 0; q < 16; ++q) {
        const Shape shape = {{2, columns, 1}};
        Problem problem(kChapter, shape, *backend, {{"x", x}, {"q", q}, {"q_rows", q}, {"scales", x}});
        INFO("offsets " << x << " " << q);
        check_stages(kChapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("03: every stage suits rows of up to 131072 columns, and those with one scale suit all") {
  for (const Stage& stage : kChapter.stages) {
    INFO(stage.name);
    const bool one_scale = names_of(stage.output) == "q";
    CHECK((stage.suits == nullptr) == one_scale);
    if (one_scale) continue;
    CHECK(stage.suits({{1, 1, 1}}));
    CHECK(stage.suits({{4096, 131072, 1}}));
    CHECK_FALSE(stage.suits({{1, 131073, 1}}));
  }
}

TEST_CASE("03: counts equal the H200's counters at 256 x 4096") {
  check_counters(kChapter, {{256, 4096, 1}});
}

TEST_CASE("03: ties, zeros, overflow, infinities and NaN are what the chapter says they are") {
  check_values(fill_special, {{{48, 16, 1}}, {{48, 33, 1}}, {{48, 1024, 1}}, {{4, 40000, 1}}});
}

TEST_CASE("03: next to a tie every stage takes the step that the division takes") {
  check_values(fill_near_ties, {{{512, 256, 1}}, {{256, 255, 1}}, {{5, 20004, 1}}});
}

TEST_CASE("03: the corrected quotient is the division's wherever its error bound leaves that open") {
  Divisions divisions;
  add_all_near_a_middle(divisions);
  CHECK(divisions.check() == 27'739'981);
}

TEST_CASE("03: the corrected quotient is the division's for random floats and for the limits of its range") {
  Divisions divisions;
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> significand(1, 2);
  std::uniform_int_distribution<int> exponent(-59, 59);
  const auto random = [&] { return std::ldexp(significand(generator), exponent(generator)); };
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = random(), scale = random();
    if (x / scale >= 0x1p-30f) divisions.add(x, scale);
  }
  for (const float x : {std::nextafter(0x1p60f, 0.0f), 0x1.fffffep30f, 0x1.000002p30f})
    for (const float scale : {std::nextafter(0x1p60f, 0.0f), 0x1.fffffep-60f, std::nextafter(0x1p-60f, 1.0f)})
      divisions.add(x, scale);
  divisions.check();
}

}  // namespace test_quantize
