// Chapter 07 on the CPU device: random numbers that are Philox's, every stage right at hostile shapes,
// alignments, probabilities and seeds, and counting what its formula says.
#include <algorithm>
#include <cmath>
#include <string>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/dropout_numbers.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "kernels/dropout.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace cpu::gelu_dropout {
workbook::Chapter chapter();
}

namespace test_gelu_dropout {
namespace {

using namespace workbook;
using cpu::test_kernels::DropoutMistake;
using cpu::test_kernels::PhiloxInput;
using cpu::test_kernels::Shared;

const Chapter kChapter = cpu::gelu_dropout::chapter();

/// The chapter with other options.
Chapter with(double p, unsigned long long seed, unsigned long long offset) {
  Chapter chapter = kChapter;
  chapter.dropout = {p, seed, offset};
  return chapter;
}

std::vector<signed char> kept(int n, Shared shared, double p, unsigned long long seed,
                              unsigned long long offset) {
  const auto backend = make_cpu_backend();
  const DeviceArray<signed char> mask(*backend, static_cast<std::size_t>(n));
  backend->run([&] { cpu::test_kernels::draw_kept(mask.data(), n, shared, p, seed, offset); });
  return mask.values();
}

/// Stages whose rows begin at vectors only if the number of columns is a multiple of 8.
bool has_rows(const Stage& stage) {
  const std::string name = stage.name;
  return name == "11_residual" || name == "12_rms_norm";
}

const std::vector<Shape> kShapes = {
    {{1, 1, 1}},   {{1, 2, 1}},    {{1, 3, 1}},    {{2, 2, 1}},   {{1, 5, 1}},     {{1, 31, 1}},
    {{8, 4, 1}},   {{3, 11, 1}},   {{1, 127, 1}},  {{5, 51, 1}},  {{1, 256, 1}},   {{257, 1, 1}},
    {{33, 31, 1}}, {{3, 1000, 1}}, {{2, 4098, 1}}, {{7, 264, 1}}, {{41, 1023, 1}}, {{64, 512, 1}}};

}  // namespace

TEST_CASE("07: counts equal the H200's counters at 512 x 1024") {
  check_counters(kChapter, {{512, 1024, 1}});
}

TEST_CASE("07: Philox gives the published answers, in a kernel and on the host") {
  const auto backend = make_cpu_backend();
  std::vector<PhiloxInput> in;
  std::vector<unsigned> expected;
  for (const KnownAnswer& known : kKnownAnswers) {
    in.emplace_back();
    std::copy(known.counter.begin(), known.counter.end(), in.back().counter);
    std::copy(known.key.begin(), known.key.end(), in.back().key);
    in.back().rounds = known.rounds;
    expected.insert(expected.end(), known.numbers.begin(), known.numbers.end());
  }
  const int n = static_cast<int>(in.size());
  std::vector<unsigned> on_host(expected.size());
  cpu::test_kernels::philox_numbers_on_host(in.data(), on_host.data(), n);
  CHECK(on_host == expected);
  const DeviceArray<PhiloxInput> inputs(*backend, in.size());
  backend->upload(inputs.data(), in.data(), in.size() * sizeof in[0]);
  const DeviceArray<unsigned> out(*backend, expected.size());
  backend->run([&] { cpu::test_kernels::philox_numbers(inputs.data(), out.data(), n); });
  CHECK(out.values() == expected);
}

TEST_CASE("07: as many elements stay as should, and one says nothing of another") {
  constexpr int n = 1 << 18, columns = 1024;
  for (const Shared shared :
       {Shared::kFour, Shared::kEight, Shared::kSixteen, Shared::kHalves, Shared::kSevenRounds})
    for (const double p : {0.125, 0.5, 0.875}) {  // multiples of 1/256, which all of them can
      INFO("shared " << static_cast<int>(shared) << ", p = " << p);
      const auto mask = kept(n, shared, p, 7, 0);
      check_share(mask, p);
      // Neighbours, of the same call too; those of the next vector, call, warp and row.
      for (const std::size_t apart : {1, 2, 3, 4, 7, 8, 16, 32, 127, 128, 256, 512, columns - 1, columns})
        check_no_correlation(mask, mask, apart, p);
      check_no_correlation(mask, kept(n, shared, p, 7, 1), 0, p);
      check_no_correlation(mask, kept(n, shared, p, 8, 0), 0, p);
      check_no_correlation(mask, kept(n, shared, p, 7, 1ull << 32), 0, p);
      check_no_correlation(mask, kept(n, shared, p, 7 + (1ull << 32), 0), 0, p);
    }
}

TEST_CASE("07: the factor of a bfloat16 does not depend on its neighbour in the word") {
  const auto backend = make_cpu_backend();
  const DeviceArray<float> factors(*backend, cpu::test_kernels::kTableFactors), out(*backend, 2 * 65536);
  std::vector<float> of_zero;
  for (const unsigned neighbour : {0x0000u, 0x3f80u, 0x8001u, 0x7f80u, 0xff80u, 0xffffu}) {
    backend->run([&] { cpu::test_kernels::table_factors(factors.data(), out.data(), neighbour); });
    const std::vector<float> values = out.values();
    if (of_zero.empty()) of_zero = values;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < values.size(); ++i) differ += values[i] != of_zero[i / 2 * 2];
    INFO("beside " << std::hex << neighbour);
    CHECK(differ == 0);
  }
  CHECK(of_zero[2 * 0xff80] < 1e-30f);  // of -inf
}

TEST_CASE("07: p = 0 drops nothing, p = 1 everything") {
  for (const Shared shared :
       {Shared::kFour, Shared::kEight, Shared::kSixteen, Shared::kHalves, Shared::kSevenRounds}) {
    const auto all = kept(100'000, shared, 0, 3, 0), none = kept(100'000, shared, 1, 3, 0);
    CHECK(std::count(all.begin(), all.end(), 1) == 100'000);
    CHECK(std::count(none.begin(), none.end(), 0) == 100'000);
  }
}

TEST_CASE("07: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  for (const Shape& shape : kShapes) {
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      if (!has_rows(stage) || shape.dims[1] % 8 == 0) check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("07: every stage is right with any p, seed and offset") {
  const auto backend = make_cpu_backend();
  for (const double p : {0.0, 1e-6, 0.1, 0.5, 0.999, 1.0})
    for (const unsigned long long seed : {0ull, 42ull, ~0ull})
      for (const unsigned long long offset : {0ull, 1ull, 1ull << 32, ~0ull}) {
        const Chapter chapter = with(p, seed, offset);
        const Shape shape = {{5, 264, 1}};
        INFO("p = " << p << ", seed " << seed << ", offset " << offset);
        Problem problem(chapter, shape, *backend);
        check_stages(chapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("07: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const Shape& shape : {Shape{{1, 7, 1}}, Shape{{3, 264, 1}}, Shape{{9, 113, 1}}})
    for (std::size_t x = 0; x < 16; x += 2)
      for (const std::size_t y : {x, std::size_t{0}, std::size_t{6}}) {
        INFO("offsets " << x << " " << y);
        Problem problem(kChapter, shape, *backend, gelu_dropout_offsets(x, y));
        check_stages(kChapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("07: a backward pass with another mask than the forward pass is noticed") {
  static DropoutMistake mistake;
  Stage stage = stage_named(kChapter, "09_recomputed");
  stage.run = [](const Data& d) {
    cpu::test_kernels::backward(floats(d, "x"), floats(d, "dy"), floats(d, "dx"),
                                d.shape.dims[0] * d.shape.dims[1], d.dropout.p, d.dropout.seed,
                                d.dropout.offset, mistake);
  };
  const auto backend = make_cpu_backend();
  for (const unsigned long long offset : {0ull, 12345678901ull})
    for (const Shape& shape : {Shape{{5, 51, 1}}, Shape{{33, 31, 1}}, Shape{{41, 1023, 1}}}) {
      const Chapter chapter = with(0.1, 3, offset);
      Problem problem(chapter, shape, *backend);
      mistake = DropoutMistake::kNone;
      CHECK(problem.check(stage).message == "");
      for (const DropoutMistake wrong : {DropoutMistake::kNextOffset, DropoutMistake::kOtherVectors,
                                         DropoutMistake::kSeedByBlock, DropoutMistake::kLaneZero}) {
        mistake = wrong;
        INFO(static_cast<int>(wrong) << " at " << shape.dims[0] << " x " << shape.dims[1]);
        if (wrong == DropoutMistake::kSeedByBlock && shape.dims[0] * shape.dims[1] <= 256) continue;
        CHECK_THAT(problem.check(stage).message, ContainsSubstring("dx["));
      }
    }
}

TEST_CASE("07: a sum without its last term is noticed at every row length of the sweep") {
  static const Stage kSum = stage_named(kChapter, "10_row_sum");
  const auto backend = make_cpu_backend();
  Stage shortened = kSum;
  shortened.run = [](const Data& d) {
    Data fewer = d;
    --fewer.shape.dims[1];
    kSum.run(fewer);
  };
  shortened.roundings = [](const Shape&) { return 1 << 20; };  // right on the other inputs
  for (const int columns : {1024, 8192}) {
    unsigned long long seed = 1;  // the first that keeps the last element; p is 0.5 on exact inputs
    while (!kept(columns, Shared::kHalves, 0.5, seed, 0).back()) ++seed;
    const Chapter chapter = with(0.1, seed, 0);
    Problem problem(chapter, {{1, columns, 1}}, *backend);
    CHECK(problem.check(kSum).message == "");
    CHECK_THAT(problem.check(shortened).message,
               ContainsSubstring("on inputs whose sums are exact: sums[0] is"));
  }
}

}  // namespace test_gelu_dropout
